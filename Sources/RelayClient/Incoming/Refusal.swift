import Nostr

/// Why something from a relay was not let in, in the words of the counter.
enum Refusal: String, Hashable, Sendable, CaseIterable {
    /// Not JSON, or not what NIP-01 makes of it.
    case malformed
    case unknownMessage = "unknown message"
    case idMismatch = "wrong id"
    case badSignature = "bad signature"
    /// An event of no open subscription, or not what it asked for.
    case unrequested
    case binaryFrame = "binary frame"
    /// Stored events whose end did not come within its bounds.
    case endlessPage = "no end of stored events"
    /// Processes have died of decoding it, or of others from its relay.
    case quarantined

    init(_ error: NostrError) {
        self =
            switch error.code {
            case .unknownMessage: .unknownMessage
            case .idMismatch: .idMismatch
            case .badSignature: .badSignature
            default: .malformed
            }
    }
}
