import Nostr

/// What chats and their members are called.
extension CoreModel {
    /// What an account calls itself; nil if it is not known.
    func knownName(of key: PublicKey) -> String? { nil }

    /// What to show for an account: its name, else the beginning of its npub.
    func shownName(of key: PublicKey) -> String { self.knownName(of: key) ?? Self.shortened(key) }

    static func shortened(_ key: PublicKey) -> String { String(key.npub.prefix(12)) }

    /// Title and subtitle of a chat (``AppState/ChatSummary/displayName``).
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

    /// What these accounts call themselves has changed: shows it wherever they are named.
    mutating func refreshNames(of keys: Set<PublicKey>) {
        let own = self.account.publicKey
        let meant = self.state.chatList.filter { chat in
            chat.members.contains { $0.publicKey != own && keys.contains($0.publicKey) } || keys.contains(own)
        }
        for chat in meant {
            if let groupID = Hex.decode(chat.groupID) { self.refreshChat(groupID) }
        }
        for position in self.state.currentChat?.messages.indices ?? 0..<0 {
            guard let sender = self.state.currentChat?.messages[position].sender, keys.contains(sender) else {
                continue
            }
            let name = self.shownName(of: sender)
            self.state.currentChat?.messages[position].senderName = name
        }
    }
}
