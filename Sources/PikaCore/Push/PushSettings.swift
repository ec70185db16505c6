import MLS
import Marmot
import Nostr

/// This account's own push token, and whether it notifies others of its messages.
struct PushSettings: Sendable, Equatable {
    /// The account's own token before it is encrypted to the server.
    struct Registration: Sendable, Equatable {
        /// Distinguishes this registration from earlier ones.
        let number: Int64
        let server: PublicKey
        let relay: RelayURL
        let device: DeviceToken
    }

    static let memoName = MemoName(.pushSettings, [])

    var registration: Registration?
    /// The number of the newest registration, also of a removed one.
    var lastNumber: Int64 = 0
    var notifies = false
}

// MARK: - Stored form: JSON, version 1

extension PushSettings {
    var memo: Secret {
        var json: JSONObject = ["v": 1, "notifies": .bool(self.notifies), "last": .integer(self.lastNumber)]
        if let registration = self.registration {
            let object: JSONObject = [
                "server": .string(registration.server.hex), "relay": .string(registration.relay.string),
                "platform": .integer(Int64(registration.device.platform.rawValue)),
                "token": .string(Hex.encode(registration.device.secret.copyBytes())),
            ]
            json["registration"] = .object(object)
        }
        return Secret(JSONValue.object(json).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo), let notifies = json["notifies"]?.bool,
            let last = json["last"]?.integer
        else { return nil }
        self.init(lastNumber: last, notifies: notifies)
        guard let stored = json["registration"] else { return }
        guard let registration = Registration(stored, number: last) else { return nil }
        self.registration = registration
    }
}

extension PushSettings.Registration {
    fileprivate init?(_ json: JSONValue, number: Int64) {
        guard let server = json["server"]?.string.flatMap({ try? PublicKey(hex: $0) }),
            let relay = json["relay"]?.string.flatMap({ try? RelayURL($0) }),
            let platform = json["platform"]?.integer.flatMap({ UInt8(exactly: $0) })
                .flatMap({ DeviceToken.Platform(rawValue: $0) }),
            let token = json["token"]?.string.flatMap({ Hex.decode($0) }),
            let device = try? DeviceToken(platform, Secret(token))
        else { return nil }
        self.init(number: number, server: server, relay: relay, device: device)
    }
}
