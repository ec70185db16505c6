public import BotKit
import Synchronization

extension LabMember {
    // MARK: Actions

    /// Dispatches an action without waiting; ``outcome(of:)`` returns its outcome.
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

    /// Returns the outcome of an action; nil while it is in progress.
    public func outcome(of request: RequestID) -> ActionOutcome? { self.record.withLock { $0.outcomes[request] } }

    /// Dispatches an action and settles; returns nil if it is still in progress then.
    public func attempt(_ action: AppAction) async throws -> ActionOutcome? {
        let request = self.begin(action)
        try await self.lab.settle()
        return self.outcome(of: request)
    }

    /// Dispatches an action, settles, and throws unless it succeeded.
    @discardableResult
    public func perform(_ action: AppAction) async throws -> ActionOutcome {
        switch try await self.attempt(action) {
        case .failed(let error)?: throw self.lab.error(.actionFailed, "\(self.name): \(error)")
        case let outcome?: return outcome
        case nil: throw self.lab.error(.stillWaiting, "\(self.name): the action has not ended")
        }
    }

    /// Creates a group and returns its chat id, which is the same for all of its members.
    ///
    /// - Parameter groupProtocol: the group's generation; nil for the one that the member's configuration chooses.
    @discardableResult
    public func create(
        _ name: String, inviting peers: [LabMember], groupProtocol: GroupProtocol? = nil
    ) async throws -> ChatID {
        let outcome = try await self.perform(
            .createGroupChat(name: name, peers: peers.map(\.publicKey), groupProtocol: groupProtocol))
        guard case .done(let chatID?) = outcome else {
            throw self.lab.error(.actionFailed, "\(self.name): the new group has no chat id")
        }
        return chatID
    }

    /// Sends a chat message, to the only chat if none is given; returns the message's id.
    @discardableResult
    public func say(_ text: String, in chatID: ChatID? = nil) async throws -> EventID {
        let chatID = try await self.chat(chatID)
        guard case .queued(let id, _) = try await self.perform(.sendMessage(chatID: chatID, .text(text))) else {
            throw self.lab.error(.actionFailed, "\(self.name): the message was not queued")
        }
        return id
    }

    /// Sends files, to the only chat if none is given; returns the message's id.
    @discardableResult
    public func send(
        _ files: [OutgoingFile], caption: String = "", in chatID: ChatID? = nil
    ) async throws -> EventID {
        let media = OutgoingMedia(files: files, caption: caption)
        let chatID = try await self.chat(chatID)
        guard case .queued(let id, _) = try await self.perform(.sendMedia(chatID: chatID, media)) else {
            throw self.lab.error(.actionFailed, "\(self.name): the message was not queued")
        }
        return id
    }

    /// Downloads a file of a message.
    public func download(_ index: Int = 0, of messageID: EventID, in chatID: ChatID? = nil) async throws -> [UInt8] {
        let chatID = try await self.chat(chatID)
        let core = self.core
        return try await self.lab.run { try await core.media(chatID: chatID, messageID: messageID, index: index) }
    }

    /// Returns a member's profile for a chat's group only, as this member knows it.
    public func groupProfile(of member: LabMember, in chatID: ChatID? = nil) async throws -> AppState.Profile? {
        let chatID = try await self.chat(chatID)
        let core = self.core
        return try await self.lab.run { try await core.groupProfile(chatID: chatID, publicKey: member.publicKey) }
    }

    /// Downloads the picture of a member's group profile.
    public func groupProfileImage(of member: LabMember, in chatID: ChatID? = nil) async throws -> [UInt8]? {
        let chatID = try await self.chat(chatID)
        let core = self.core
        return try await self.lab.run { try await core.groupProfileImage(chatID: chatID, publicKey: member.publicKey) }
    }

    /// Adds members to a group, the only chat if none is given; throws unless the action succeeded.
    public func add(_ peers: [LabMember], to chatID: ChatID? = nil) async throws {
        try await self.perform(.addGroupMembers(chatID: try await self.chat(chatID), peers: peers.map(\.publicKey)))
    }

    /// Removes members from a group, the only chat if none is given; throws unless the action succeeded.
    public func remove(_ peers: [LabMember], from chatID: ChatID? = nil) async throws {
        try await self.perform(.removeGroupMembers(chatID: try await self.chat(chatID), peers: peers.map(\.publicKey)))
    }

    /// Renames a group, the only chat if none is given; throws unless the action succeeded.
    public func rename(_ chatID: ChatID? = nil, to name: String) async throws {
        try await self.perform(.renameGroup(chatID: try await self.chat(chatID), name: name))
    }

    // MARK: State

    /// Returns the newest snapshot.
    public func state() async throws -> AppState {
        let core = self.core
        return try await self.lab.run { await core.state }
    }

    /// Returns a chat's entry in the chat list, named as by ``AppState/chat(named:)``; nil if absent.
    public func summary(of chatID: ChatID) async throws -> AppState.ChatSummary? {
        try await self.state().chat(named: chatID.rawValue)
    }

    /// Opens a chat and returns its newest page of messages, oldest first.
    public func messages(in chatID: ChatID? = nil) async throws -> [AppState.ChatMessage] {
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

    /// All events delivered to the handlers, in order; an event from before a crash may appear twice.
    public var events: [CoreEvent] { self.record.withLock { $0.events } }

    /// The withdrawals and restorations of messages that were delivered to the handlers, in order.
    public var withdrawals: [WithdrawnEvent] {
        self.events.compactMap { if case .withdrawn(let withdrawn) = $0.content { withdrawn } else { nil } }
    }

    /// Returns other members' chat messages in the order of their arrival, without duplicates. Withdrawn messages are
    /// among them.
    public func heard(in chatID: ChatID? = nil, from sender: LabMember? = nil) -> [String] {
        var ids: Set<EventID> = []
        return self.events.compactMap { event in
            guard case .message(let message) = event.content, message.kind == .chatMessage,
                chatID ?? event.chatID == event.chatID, sender?.publicKey ?? message.sender == message.sender,
                ids.insert(message.id).inserted
            else { return nil }
            return message.content
        }
    }

    /// The commits delivered to the handlers, in order.
    public var commits: [CommitEvent] {
        self.events.compactMap { if case .commit(let commit) = $0.content { commit } else { nil } }
    }

    /// The call signals delivered to the handlers, in order.
    public var calls: [CallEvent] {
        self.events.compactMap { if case .call(let call) = $0.content { call } else { nil } }
    }

    /// The snapshots published in each run of the core, in order.
    public var snapshots: [[AppState]] { self.record.withLock { $0.snapshots } }

    /// The outcomes of events that were not delivered to the handlers, of all runs of the core, in order.
    package var notices: [CoreNotice] { self.record.withLock { $0.notices } }

    private func chat(_ chatID: ChatID?) async throws -> ChatID {
        if let chatID { return chatID }
        let chats = try await self.state().chatList
        guard let only = chats.first, chats.count == 1 else {
            throw self.lab.error(.unmet, "\(self.name) is in \(chats.count) chats; name the one you mean")
        }
        return only.chatID
    }
}
