import Nostr

/// Disappearing messages: local copies are deleted at their expiry (docs/protocol/marmot.md §5.9, NIP-40).
extension CoreModel {
    /// Deletes expired messages, in the store and on the screens.
    mutating func deleteExpired(_ step: inout CoreStep) {
        guard self.chats.deleteExpired(&step) else { return }
        let now = step.now
        self.dropShown { ($0.expiresAt ?? .distantFuture) <= now }
        self.forgetLastMessages { ($0.lastMessageExpiresAt ?? .distantFuture) <= now }
    }
}
