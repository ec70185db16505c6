import Nostr

/// The reason why a message from a relay was rejected; the raw values are metric labels.
enum RefusalReason: String, Hashable, Sendable, CaseIterable {
    /// Invalid JSON, or an invalid NIP-01 message.
    case malformed
    case unknownMessage = "unknown message"
    case idMismatch = "wrong id"
    case badSignature = "bad signature"
    /// An event without an open subscription, or one that does not match it.
    case unrequested
    case binaryFrame = "binary frame"
    /// Stored events that exceeded their bounds without EOSE.
    case endlessPage = "no end of stored events"
    /// Decoding it, or other messages of its relay, has crashed the process before.
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
