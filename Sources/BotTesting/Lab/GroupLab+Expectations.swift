public import BotKit

extension GroupLab {
    /// Settles, and throws unless the last messages that the other members heard from `sender` are these, in order.
    public func expect(_ sender: LabMember, replied expected: String..., in chatID: ChatID? = nil) async throws {
        try await self.settle()
        for listener in self.allMembers where listener !== sender {
            let heard = listener.heard(in: chatID, from: sender)
            guard try await self.shareChat(listener, sender, chatID) else { continue }
            guard heard.suffix(expected.count) == expected[...] else {
                throw self.error(
                    .unmet, "\(listener.name) expected to receive \(expected) from \(sender.name), received \(heard)")
            }
        }
    }

    /// Settles, and throws unless all of these members are in the same epoch of a chat with the same name and members.
    /// Returns the epoch.
    @discardableResult
    public func expectAgreement(_ members: [LabMember], in chatID: ChatID) async throws -> UInt64 {
        try await self.settle()
        var first: AppState.ChatSummary?
        for member in members {
            guard let chat = try await member.summary(of: chatID), chat.isActive else {
                throw self.error(.unmet, "\(member.name) is not in the chat")
            }
            guard let expected = first else {
                first = chat
                continue
            }
            let isSame =
                chat.epoch == expected.epoch && chat.name == expected.name
                && self.memberships(chat) == self.memberships(expected)
            guard isSame else {
                throw self.error(
                    .unmet,
                    """
                    \(members[0].name) is in epoch \(expected.epoch) of "\(expected.name)", \
                    \(member.name) in epoch \(chat.epoch) of "\(chat.name)"
                    """)
            }
        }
        return first?.epoch ?? 0
    }

    /// The keys of a chat's members, each with whether it is an admin.
    private func memberships(_ chat: AppState.ChatSummary) -> [PublicKey: Bool] {
        Dictionary(chat.allMembers.map { ($0.publicKey, $0.isAdmin) }) { first, _ in first }
    }

    private func shareChat(_ one: LabMember, _ other: LabMember, _ chatID: ChatID?) async throws -> Bool {
        if one.hasCrashed { return false }
        return try await one.state().chatList.contains { chat in
            chatID ?? chat.chatID == chat.chatID && chat.allMembers.contains { $0.publicKey == other.publicKey }
        }
    }
}
