import BotKit
import Synchronization

/// The mapping between chats and the groups of the settings.
extension CanarySender {
    /// Milliseconds between two attempts to create a group: peers may have to publish a key package first.
    private static let patience: Int64 = 15_000

    /// Returns the group's chat; nil if the account is not a member. A group created earlier is found by its title.
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
        context.setText(chat.chatID.rawValue, forKey: CanaryKey.chat(group).text)
        return chat
    }

    /// Returns the group of a chat; nil if the chat is not a group of the settings.
    func group(of chatID: ChatID, _ context: BotContext) async throws -> GroupSettings? {
        for group in settings.groups where try await self.chatID(of: group, context) == chatID { return group }
        return nil
    }

    private func chatID(of group: GroupSettings, _ context: BotContext) async throws -> ChatID? {
        let stored = try await context.text(CanaryKey.chat(group).text)
        guard let reference = group.chatID ?? stored.map(ChatID.init(rawValue:)) else { return nil }
        return try context.snapshot.chat(named: reference.rawValue)?.chatID ?? reference
    }

    enum CreationAttempt: Sendable {
        case firstAttempt, anotherAttempt, none
    }

    /// Creates a group that does not exist yet. The creation fails as long as a peer has no key package.
    func createGroupIfDue(_ group: GroupSettings, _ context: BotContext) -> CreationAttempt {
        guard group.chatID == nil else { return .none }
        let now = context.nowMilliseconds
        let attempt: CreationAttempt = memory.creationAttemptedAt.withLock { attempts in
            let last = attempts[group.name]
            if let last, now >= last, now - last < Self.patience { return .none }
            attempts[group.name] = now
            return last == nil ? .firstAttempt : .anotherAttempt
        }
        guard attempt != .none else { return .none }
        context.logger.info("Creating a canary group", metadata: ["target": "\(group.name)"])
        context.createGroup(group.title, with: group.peers.map(\.account))
        return attempt
    }
}
