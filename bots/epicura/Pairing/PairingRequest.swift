import Appliance
import BotKit
import Foundation

/// A line for the pairing program, docs/epicura/pairing.md.
struct PairingRequest: Hashable, Sendable, Encodable {
    enum Kind: String, Hashable, Sendable, Encodable {
        case scan, stop, connect, discover, write, disconnect
    }

    let kind: Kind
    var service: String?
    var address: String?
    var notify: String?
    var characteristic: String?
    /// Base64; contains a passphrase in parts.
    var value: String?

    private enum CodingKeys: String, CodingKey {
        case kind = "do"
        case service, address, notify, characteristic, value
    }

    /// The request for an effect; nil for one that is not about the radio.
    init?(_ effect: ProvisioningMachine.Effect) {
        switch effect {
        case .startScan: self.init(kind: .scan, service: GATTProfile.service)
        case .stopScan: self.init(kind: .stop)
        case .connect(let address): self.init(kind: .connect, address: address)
        case .discover: self.init(kind: .discover, service: GATTProfile.service, notify: GATTProfile.status)
        case .write(let chunk):
            self.init(
                kind: .write, characteristic: GATTProfile.credentials, value: Data(chunk).base64EncodedString())
        case .disconnect: self.init(kind: .disconnect)
        case .askForCredentials, .offer, .finish, .fail: return nil
        }
    }

    private init(
        kind: Kind, service: String? = nil, address: String? = nil, notify: String? = nil,
        characteristic: String? = nil, value: String? = nil
    ) {
        self.kind = kind
        self.service = service
        self.address = address
        self.notify = notify
        self.characteristic = characteristic
        self.value = value
    }

    /// One line of JSON without its end. Throws `BotError.Code.programFailed`.
    func line() throws(BotError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(self) else {
            throw BotError(.programFailed, "the request cannot be expressed as JSON")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PairingRequest: CustomStringConvertible {
    /// Without the value.
    var description: String { "PairingRequest(\(kind.rawValue))" }
}
