import BotKit
import Synchronization

/// Which chat is which group of the settings.
extension CanarySender {
    /// Between two attempts to found a group: peers may have to publish a key package first.
    private static let patience: Int64 = 15_000

    /// The group as the account sees it; nil if it is not in it. One that was founded before is found by its title.
    func chat(of group: GroupSettings, _ context: BotContext) async throws -> AppState.ChatSummary? {
        let chats = context.snapshot.chatList.filter { $0.isActive && !$0.needsInvitation }
        if let chatID = try await chatID(of: group, context), let chat = chats.first(where: { $0.chatID == chatID }) {
            return chat
        }
        guard group.chatID == nil else { return nil }
        let everybody = Set(group.peers.map(\.account) + [context.account])
        let own = chats.filter { chat in
            chat.name == group.title && chat.isAdmin && everybody.isSubset(of: chat.members.map(\.publicKey))
        }
        guard let chat = own.min(by: { $0.chatID < $1.chatID }) else { return nil }
        context.setText(chat.chatID, forKey: CanaryKey.chat(group).text)
        return chat
    }

    /// The group that a chat is; nil if it is none of the settings.
    func group(of chatID: String, _ context: BotContext) async throws -> GroupSettings? {
        for group in settings.groups where try await self.chatID(of: group, context) == chatID { return group }
        return nil
    }

    private func chatID(of group: GroupSettings, _ context: BotContext) async throws -> String? {
        let stored = try await context.text(CanaryKey.chat(group).text)
        guard let reference = group.chatID ?? stored else { return nil }
        return try context.snapshot.chat(named: reference)?.chatID ?? reference
    }

    enum Founding: Sendable {
        case firstAttempt, anotherAttempt, none
    }

    /// Founds a group that there is none of yet. Who has no key package yet keeps it from being founded.
    func found(_ group: GroupSettings, _ context: BotContext) -> Founding {
        guard group.chatID == nil else { return .none }
        let now = context.nowMilliseconds
        let founding: Founding = memory.foundedAt.withLock { founded in
            let last = founded[group.name]
            if let last, now >= last, now - last < Self.patience { return .none }
            founded[group.name] = now
            return last == nil ? .firstAttempt : .anotherAttempt
        }
        guard founding != .none else { return .none }
        context.logger.info("Founding a group for canaries", metadata: ["target": "\(group.name)"])
        context.createGroup(group.title, with: group.peers.map(\.account))
        return founding
    }
}
