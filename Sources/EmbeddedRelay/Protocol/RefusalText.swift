import Nostr

/// Text of a negative OK or CLOSED message, with its machine-readable prefix (NIP-01).
struct RefusalText: Hashable, Sendable {
    let prefix: MessagePrefix
    let reason: String

    init(_ prefix: MessagePrefix, _ reason: String) {
        self.prefix = prefix
        self.reason = reason
    }

    var message: String { prefix.message(reason) }
}
