import Appliance
import Foundation

/// A line of the pairing program, docs/epicura/pairing.md.
enum PairingEvent {
    /// Lines have at most so many bytes.
    static let maximumLine = 8_192
    private static let maximumCharacteristics = 64

    private struct Line: Decodable {
        var event: String
        var address: String?
        var name: String?
        var signal: Int?
        var characteristics: [String]?
        var mtu: Int?
        var value: String?
        var request: String?
    }

    /// What a line means for the state machine; nil for one without a meaning.
    static func input(_ text: String) -> ProvisioningMachine.Input? {
        guard text.utf8.count <= maximumLine,
            let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8))
        else { return nil }
        switch line.event {
        case "found":
            guard let address = line.address, let signal = line.signal, (-127...20).contains(signal) else { return nil }
            return .found(.init(address: address, name: line.name ?? "", signal: signal))
        case "connected": return .connected
        case "discovered":
            guard let found = line.characteristics, found.count <= maximumCharacteristics else { return nil }
            return .discovered(characteristics: Set(found), mtu: line.mtu ?? GATTChunks.smallestMTU)
        case "written": return .written
        case "notified":
            guard let value = line.value.flatMap({ Data(base64Encoded: $0) }) else { return nil }
            return .notified(Array(value))
        case "disconnected": return .disconnected
        case "lost": return .adapterLost
        case "failed":
            switch line.request {
            case "connect", "discover": return .disconnected
            case "write": return .writeFailed
            case "scan": return .adapterLost
            default: return nil
            }
        default: return nil
        }
    }
}
