public import BotKit
import Synchronization

extension LabMember {
    // MARK: What a member does

    /// Dispatches an action and does not wait: ``outcome(of:)`` tells how it ended.
    @discardableResult
    public func begin(_ action: AppAction) -> RequestID {
        let number = self.record.withLock { record in
            record.requests += 1
            return record.requests
        }
        let request = RequestID(rawValue: "\(self.name)-\(number)")
        self.core.dispatch(action, request: request)
        return request
    }

    /// How an action ended; nil while it is under way.
    public func outcome(of request: RequestID) -> ActionOutcome? { self.record.withLock { $0.outcomes[request] } }

    /// Dispatches an action and settles; nil if it is still under way then.
    public func attempt(_ action: AppAction) async throws -> ActionOutcome? {
        let request = self.begin(action)
        try await self.lab.settle()
        return self.outcome(of: request)
    }

    /// Dispatches an action, settles, and throws unless it was done.
    @discardableResult
    public func perform(_ action: AppAction) async throws -> ActionOutcome {
        switch try await self.attempt(action) {
        case .failed(let error)?: throw self.lab.error(.actionFailed, "\(self.name): \(error)")
        case let outcome?: return outcome
        case nil: throw self.lab.error(.stillWaiting, "\(self.name): the action has not ended")
        }
    }

    /// Founds a group and returns its chat id, which is the same for all of its members.
    @discardableResult
    public func create(_ name: String, inviting peers: [LabMember]) async throws -> String {
        let outcome = try await self.perform(.createGroupChat(name: name, peers: peers.map(\.publicKey)))
        guard case .done(let chatID?) = outcome else {
            throw self.lab.error(.actionFailed, "\(self.name): the new group has no chat id")
        }
        return chatID
    }

    /// Sends a chat message into a chat, the only one unless one is named; returns the message's id.
    @discardableResult
    public func say(_ text: String, in chatID: String? = nil) async throws -> EventID {
        let chatID = try await self.chat(chatID)
        guard case .queued(let id, _) = try await self.perform(.sendMessage(chatID: chatID, .text(text))) else {
            throw self.lab.error(.actionFailed, "\(self.name): the message was not queued")
        }
        return id
    }

    /// Sends files into a chat, the only one unless one is named; returns the message's id.
    @discardableResult
    public func send(
        _ files: [OutgoingFile], caption: String = "", in chatID: String? = nil
    ) async throws -> EventID {
        let media = OutgoingMedia(files: files, caption: caption)
        let chatID = try await self.chat(chatID)
        guard case .queued(let id, _) = try await self.perform(.sendMedia(chatID: chatID, media)) else {
            throw self.lab.error(.actionFailed, "\(self.name): the message was not queued")
        }
        return id
    }

    /// Downloads a file of a message.
    public func download(_ index: Int = 0, of messageID: EventID, in chatID: String? = nil) async throws -> [UInt8] {
        let chatID = try await self.chat(chatID)
        let core = self.core
        return try await self.lab.run { try await core.media(chatID: chatID, messageID: messageID, index: index) }
    }

    /// What a member calls itself in a chat's group only, as this one knows it.
    public func groupProfile(of member: LabMember, in chatID: String? = nil) async throws -> AppState.Profile? {
        let chatID = try await self.chat(chatID)
        let core = self.core
        return try await self.lab.run { try await core.groupProfile(chatID: chatID, publicKey: member.publicKey) }
    }

    /// Downloads the picture of a member's group profile.
    public func groupProfileImage(of member: LabMember, in chatID: String? = nil) async throws -> [UInt8]? {
        let chatID = try await self.chat(chatID)
        let core = self.core
        return try await self.lab.run { try await core.groupProfileImage(chatID: chatID, publicKey: member.publicKey) }
    }

    public func add(_ peers: [LabMember], to chatID: String? = nil) async throws {
        try await self.perform(.addGroupMembers(chatID: try await self.chat(chatID), peers: peers.map(\.publicKey)))
    }

    public func remove(_ peers: [LabMember], from chatID: String? = nil) async throws {
        try await self.perform(.removeGroupMembers(chatID: try await self.chat(chatID), peers: peers.map(\.publicKey)))
    }

    public func rename(_ chatID: String? = nil, to name: String) async throws {
        try await self.perform(.renameGroup(chatID: try await self.chat(chatID), name: name))
    }

    // MARK: What a member sees

    /// The newest snapshot.
    public func state() async throws -> AppState {
        let core = self.core
        return try await self.lab.run { await core.state }
    }

    /// A chat as the list shows it, named as by ``AppState/chat(named:)``; nil if it is not there.
    public func summary(of chatID: String) async throws -> AppState.ChatSummary? {
        try await self.state().chat(named: chatID)
    }

    /// Opens a chat and returns its newest page of messages, oldest first.
    public func messages(in chatID: String? = nil) async throws -> [AppState.ChatMessage] {
        let chatID = try await self.chat(chatID)
        if try await self.state().router.top != .chat(chatID: chatID) {
            self.core.dispatch(.openChat(chatID: chatID))
            try await self.lab.settle()
        }
        guard let view = try await self.state().currentChat, view.chatID == chatID else {
            throw self.lab.error(.unmet, "\(self.name): the chat did not open")
        }
        return Array(view.messages)
    }

    /// Everything that came in and was to be handled, in order; an event of before a crash may be there twice.
    public var events: [CoreEvent] { self.record.withLock { $0.events } }

    /// The chat messages of others in the order in which they came, each once.
    public func heard(in chatID: String? = nil, from sender: LabMember? = nil) -> [String] {
        var ids: Set<EventID> = []
        return self.events.compactMap { event in
            guard case .message(let message) = event.content, message.kind == .chatMessage,
                chatID ?? event.chatID == event.chatID, sender?.publicKey ?? message.sender == message.sender,
                ids.insert(message.id).inserted
            else { return nil }
            return message.content
        }
    }

    /// The changes of its groups that it was told of, in order.
    public var commits: [CommitEvent] {
        self.events.compactMap { if case .commit(let commit) = $0.content { commit } else { nil } }
    }

    public var calls: [CallEvent] {
        self.events.compactMap { if case .call(let call) = $0.content { call } else { nil } }
    }

    /// The snapshots that came in each run of the core, in order.
    public var snapshots: [[AppState]] { self.record.withLock { $0.snapshots } }

    private func chat(_ chatID: String?) async throws -> String {
        if let chatID { return chatID }
        let chats = try await self.state().chatList
        guard let only = chats.first, chats.count == 1 else {
            throw self.lab.error(.unmet, "\(self.name) is in \(chats.count) chats; name the one you mean")
        }
        return only.chatID
    }
}
