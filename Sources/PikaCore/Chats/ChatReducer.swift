import MLS
import Marmot
import Nostr

/// The open chat: present exactly when it is the top screen.
extension CoreModel {
    /// The maximum number of open-chat messages in a snapshot, unless older ones were requested; the rest is in the
    /// store.
    static let maximumShown = 500
    /// The number of messages read when a chat is opened.
    static let firstPage = 50

    mutating func push(_ screen: AppState.Screen, _ step: inout CoreStep) {
        self.state.router.stack.append(screen)
        self.fillCurrentChat(&step)
    }

    mutating func pop(_ step: inout CoreStep) {
        _ = self.state.router.stack.popLast()
        self.fillCurrentChat(&step)
    }

    /// Shows a chat that this account has created. The screens that led to it are closed, so that the list is below it.
    mutating func showCreatedChat(of groupID: GroupID, _ step: inout CoreStep) {
        self.state.router.stack = [.chat(chatID: ChatID(groupID))]
        self.fillCurrentChat(&step)
    }

    /// Closes the screens of a chat that this account has left or was removed from; the list is shown if one of them was
    /// on top.
    mutating func closeScreens(of groupID: GroupID, _ step: inout CoreStep) {
        let stack = self.state.router.stack
        let others = stack.filter { !self.shows($0, groupID) }
        guard others.count < stack.count else { return }
        self.state.router.stack = stack.last.map { self.shows($0, groupID) } == true ? [] : others
        self.fillCurrentChat(&step)
    }

    private func shows(_ screen: AppState.Screen, _ groupID: GroupID) -> Bool {
        switch self.resolved(screen) {
        case .chat(let chatID), .groupInfo(let chatID): chatID == ChatID(groupID)
        case .chatList, .newChat, .newGroupChat: false
        }
    }

    /// Updates the open chat from the top screen; a chat that is already open stays as it is.
    mutating func fillCurrentChat(_ step: inout CoreStep) {
        guard case .chat(let chatID) = self.state.router.top else {
            self.state.currentChat = nil
            self.chats.open = nil
            return
        }
        if self.state.currentChat?.chatID == chatID, self.chats.open?.groupID != nil { return }
        self.open(chatID, &step)
    }

    /// Starts or restarts the chat of a group that this account has joined; it is filled if it is open.
    mutating func beginChat(of groupID: GroupID, _ step: inout CoreStep) {
        let isOver = self.state.currentChat?.endReason != nil
        self.changeChat(groupID) { $0.end = nil }
        self.refreshChat(groupID)
        guard let shown = self.state.currentChat?.chatID, self.groups.routes.chatID(stored: shown) == ChatID(groupID),
            self.chats.open?.groupID != groupID || isOver
        else { return }
        self.state.router.stack = self.state.router.stack.map(self.resolved)
        self.open(ChatID(groupID), &step)
    }

    private mutating func open(_ chatID: ChatID, _ step: inout CoreStep) {
        let groupID = try? self.groupID(ofChat: chatID)
        let opening = self.chats.begin(groupID)
        self.state.currentChat = .init(chatID: chatID, canLoadOlder: false)
        guard let groupID else { return }
        let record = self.chats[groupID]
        self.state.currentChat?.firstUnread = record?.firstUnread
        self.changeChat(groupID) { record in
            record.unreadCount = 0
            record.firstUnread = nil
        }
        self.refreshOpenChat(groupID)
        self.showTyping(in: groupID)
        guard self.groups[groupID]?.isActive == true, !self.hasLeft(groupID) else { return }
        self.state.currentChat?.canLoadOlder = true
        // All unread messages are shown at once, with some of their context.
        let limit = min(max(Self.firstPage, (record?.unreadCount ?? 0) + Self.firstPage / 5), Self.maximumShown)
        step.effects.append(
            .loadMessages(groupID: groupID, before: nil, limit: limit, opening: opening, nil))
    }

    /// Updates title and roles of the open chat from the list; after a removal the chat is emptied.
    mutating func refreshOpenChat(_ groupID: GroupID) {
        guard self.chats.open?.groupID == groupID, var view = self.state.currentChat,
            let chat = self.position(ofChat: groupID).map({ self.state.chatList[$0] })
        else { return }
        view.title = chat.displayName
        view.isGroup = chat.isGroup
        view.isAdmin = chat.isAdmin
        view.groupName = chat.groupName
        view.members = chat.members
        view.me = chat.me
        view.proposals = chat.proposals
        view.endReason = chat.endReason
        if !chat.isActive {
            view.messages = []
            view.canLoadOlder = false
            view.isLoadingOlder = false
            view.firstUnread = nil
            view.typing = []
        }
        self.state.currentChat = view
        if !chat.isActive { self.chats.begin(groupID) }
    }

    // MARK: Loaded messages

    /// Requests the messages before those that were read. The outcome comes with them.
    mutating func loadOlder(
        _ chatID: ChatID, limit: Int, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        let groupID = try self.groupID(ofChat: chatID)
        guard (1...Self.maximumShown).contains(limit) else {
            throw AppCoreError(.notAllowed, "the limit must be 1 to \(Self.maximumShown) messages")
        }
        guard let open = self.chats.open, open.groupID == groupID else {
            throw AppCoreError(.notAllowed, "older messages load only into the open chat; open this chat first")
        }
        guard self.state.currentChat?.canLoadOlder == true else { return .done(chatID: ChatID(groupID)) }
        guard self.state.currentChat?.isLoadingOlder == false else {
            throw AppCoreError(.busy, "older messages are already being loaded")
        }
        self.state.currentChat?.isLoadingOlder = true
        step.effects.append(
            .loadMessages(
                groupID: groupID, before: open.oldestRead, limit: limit, opening: open.number, request))
        return nil
    }

    /// Shows messages that were read from the store for the open chat.
    mutating func show(
        _ messages: [StoredMessage], opening: Int, reachedStart: Bool, _ request: RequestID?, _ step: inout CoreStep
    ) {
        guard let open = self.chats.open, open.number == opening, let groupID = open.groupID else {
            let reason = "the chat was closed before its messages were read"
            return self.finish(request, .failed(AppCoreError(.notAllowed, reason)), &step)
        }
        self.state.currentChat?.isLoadingOlder = false
        self.chats.open?.noteRead(messages)
        let pending = Set(self.delivery.queue.rows { $0.groupID == groupID }.compactMap(\.messageID))
        for message in messages.sorted(by: { $0.position < $1.position }) {
            self.append(message, self.deliveryState(of: message, isPending: pending.contains(message.id)))
        }
        let count = self.state.currentChat?.messages.count ?? 0
        self.chats.open?.raiseLimit(to: count)
        self.state.currentChat?.canLoadOlder = !reachedStart
        self.finish(request, .done(chatID: self.state.currentChat?.chatID), &step)
    }

    /// Shows one new message: in the open chat, the preview and the unread counter.
    mutating func show(_ message: StoredMessage, delivery: AppState.Delivery, _ step: inout CoreStep) {
        let isOpen = self.chats.open?.groupID == message.groupID
        if isOpen, self.groups[message.groupID]?.isActive == true { self.appendNew(message, delivery) }
        self.list(message, isOpen: isOpen, now: step.now)
    }

    private mutating func appendNew(_ message: StoredMessage, _ delivery: AppState.Delivery) {
        // A message that belongs to an older page is shown with that page.
        if let oldest = self.chats.open?.oldestRead, message.position < oldest,
            self.state.currentChat?.canLoadOlder == true
        {
            return
        }
        self.append(message, delivery)
        guard let count = self.state.currentChat?.messages.count, let limit = self.chats.open?.shownLimit,
            count > limit, self.state.currentChat?.isLoadingOlder == false
        else { return }
        self.dropShown(first: count - limit)
        let first = self.state.currentChat?.messages.first
        self.chats.open?.forgetRead(before: first)
        self.state.currentChat?.canLoadOlder = true
    }
}
