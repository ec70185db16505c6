import BotKit
import Synchronization

/// The mapping between chats and the groups of the settings.
extension CanarySender {
    /// Milliseconds between two attempts to create a group: peers may have to publish a key package first.
    private static let patience: Int64 = 15_000

    /// Returns the group's chat; nil if the account is not a member, or the chat is not of the protocol generation of the
    /// settings. Nothing can be sent to a chat with a ``halt``.
    func chat(of group: GroupSettings, _ context: BotContext) async throws -> AppState.ChatSummary? {
        let chats = context.snapshot.chatList.filter { $0.isWatched && group.admits($0.generation) }
        if let chatID = try await chatID(of: group, context), let chat = chats.first(where: { $0.chatID == chatID }) {
            return chat
        }
        return nil
    }

    /// Stores the chat of a group that was created.
    func receive(_ outcome: OutcomeEvent, _ context: BotContext) async throws {
        for group in settings.groups where try await context.text(CanaryKey.creation(group).text) == "\(outcome.action)"
        {
            switch outcome.result {
            case .done, .partlyDone:
                context.setText(context.chatID.rawValue, forKey: CanaryKey.chat(group).text)
            case .failed(let error, _):
                context.logger.info(
                    "A canary group could not be created", metadata: ["target": "\(group.name)", "error": "\(error)"])
            case .published, .delivered: break
            }
        }
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
        let action = context.createGroup(
            group.title, with: group.peers.map(\.account), groupProtocol: group.groupProtocol)
        context.setText("\(action)", forKey: CanaryKey.creation(group).text)
        return attempt
    }
}

extension AppState.ChatSummary {
    /// Whether the account is a member, or would be if it could follow the group's history: such a group is reported as
    /// halted, and not created again.
    var isWatched: Bool { halt != nil || isActive && !needsInvitation }

    /// The reason why the account cannot follow the group's history; nil if it can.
    var halt: String? {
        switch convergence {
        case .blocked(let reason)?: "blocked: \(reason)"
        case .unrecoverable(let reason)?: "unrecoverable: \(reason)"
        case .settled?, .syncing?, .resolving?, .disbanded?, nil: nil
        }
    }
}
