import Nostr

/// Titles of chats.
extension CoreModel {
    static func shortened(_ key: PublicKey) -> String { String(key.npub.prefix(12)) }

    /// Returns the title and subtitle of a chat (``AppState/ChatSummary/displayName``).
    func title(name: String, isGroup: Bool, members: [AppState.Member]) -> (title: String, subtitle: String?) {
        if isGroup {
            return (name.isEmpty ? "Group (\(members.count))" : name, "\(members.count) members")
        }
        guard let peer = members.first(where: { $0.publicKey != self.account.publicKey }) else {
            return (name.isEmpty ? "Chat" : name, nil)
        }
        let short = Self.shortened(peer.publicKey)
        return peer.name.map { ($0, short) } ?? (short, nil)
    }
}
