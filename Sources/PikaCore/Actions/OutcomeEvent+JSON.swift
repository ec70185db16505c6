import Errors
package import Nostr

/// The JSON of an outcome, for clients and for the inbox.
extension OutcomeEvent {
    package var json: JSONValue {
        var json: JSONObject = [
            "action": .string(self.action.rawValue), "kind": .string(self.kind), "result": .string(self.result.name),
        ]
        if let messageID = self.result.messageID { json["message_id"] = .string(messageID.hex) }
        switch self.result {
        case .done: break
        case .published(_, let relays), .delivered(_, let relays):
            json["relays"] = .array(relays.map { .string($0.string) })
        case .partlyDone(let left):
            json["left_out"] = .array(left.sorted { $0.key < $1.key }.map { $0.value.json(of: $0.key) })
        case .failed(let error, _):
            json["error"] = .string(error.code.description)
            json["reason"] = .string(error.message)
            if !error.peers.isEmpty {
                json["left_out"] = .array(
                    error.peers.sorted { $0.key < $1.key }.map {
                        InviteFailure.keyPackage($0.value).json(of: $0.key)
                    })
            }
        }
        return .object(json)
    }

    /// Reads the stored form.
    init?(stored json: JSONValue) {
        guard let action = json["action"]?.string, let kind = json["kind"]?.string, let name = json["result"]?.string
        else { return nil }
        let relays = (json["relays"]?.array ?? []).compactMap { $0.string.flatMap { try? RelayURL($0) } }
        let messageID = json["message_id"]?.string.flatMap { try? EventID(hex: $0) }
        let result: ActionResult
        switch (name, messageID) {
        case ("done", _): result = .done
        case ("published", let id?): result = .published(messageID: id, relays: relays)
        case ("delivered", let id?): result = .delivered(messageID: id, relays: relays)
        case ("partly_done", _):
            guard let left = Self.left(json["left_out"]) else { return nil }
            result = .partlyDone(left: left)
        case ("failed", _):
            guard let code = json["error"]?.string, let reason = json["reason"]?.string,
                let left = Self.left(json["left_out"])
            else { return nil }
            let peers = left.compactMapValues { if case .keyPackage(let verdict) = $0 { verdict } else { nil } }
            result = .failed(AppCoreError(AppCoreError.Code(code), reason, peers: peers), messageID: messageID)
        default: return nil
        }
        self.init(action: ActionID(rawValue: action), kind: kind, result: result)
    }

    private static func left(_ json: JSONValue?) -> [PublicKey: InviteFailure]? {
        var left: [PublicKey: InviteFailure] = [:]
        for entry in json?.array ?? [] {
            guard let peer = entry["peer"]?.string.flatMap({ try? PublicKey(hex: $0) }),
                let failure = InviteFailure(json: entry)
            else { return nil }
            left[peer] = failure
        }
        return left
    }
}

extension InviteFailure {
    /// The JSON of a peer that was left out.
    package func json(of peer: PublicKey) -> JSONValue {
        switch self {
        case .keyPackage(let verdict):
            [
                "peer": .string(peer.hex), "error": .string(Self.noKeyPackage), "verdict": .string(verdict.name),
                "reason": .string(verdict.reason),
            ]
        case .welcomeRefused(let reason):
            ["peer": .string(peer.hex), "error": "welcome_refused", "reason": .string(reason)]
        }
    }

    private static let noKeyPackage = "no_key_package"

    fileprivate init?(json: JSONValue) {
        if json["error"]?.string == Self.noKeyPackage {
            guard let name = json["verdict"]?.string,
                let verdict = KeyPackageVerdict(name: name, reason: json["reason"]?.string ?? "")
            else { return nil }
            self = .keyPackage(verdict)
        } else {
            self = .welcomeRefused(reason: json["reason"]?.string ?? "")
        }
    }
}

/// The name and the reason of a verdict on a peer that cannot be invited.
extension KeyPackageVerdict {
    fileprivate var name: String {
        switch self {
        case .usable: "usable"
        case .missing: "missing"
        case .expired: "expired"
        case .notYetValid: "not_yet_valid"
        case .badSignature: "bad_signature"
        case .wrongIdentity: "wrong_identity"
        case .malformed: "malformed"
        case .incompatible: "incompatible"
        case .noRelayAnswered: "no_relay_answered"
        }
    }

    fileprivate var reason: String {
        switch self {
        case .malformed(let reason), .incompatible(let reason): reason
        case .usable, .missing, .expired, .notYetValid, .badSignature, .wrongIdentity, .noRelayAnswered:
            self.description
        }
    }

    fileprivate init?(name: String, reason: String) {
        switch name {
        case "missing": self = .missing
        case "expired": self = .expired
        case "not_yet_valid": self = .notYetValid
        case "bad_signature": self = .badSignature
        case "wrong_identity": self = .wrongIdentity
        case "malformed": self = .malformed(reason: reason)
        case "incompatible": self = .incompatible(reason: reason)
        case "no_relay_answered": self = .noRelayAnswered
        default: return nil
        }
    }
}
