import Marmot
import Nostr

/// What the screens show, derived from the groups.
extension CoreModel {
    /// Brings the list of chats in line with the groups; messages and counters of known chats stay.
    mutating func refreshChatList() {
        var known: [String: AppState.ChatSummary] = [:]
        for chat in self.state.chatList { known[chat.chatID] = chat }
        let chats = self.groups.values.map { group in
            let chatID = group.data.nostrGroupIDHex
            let before = known[chatID] ?? group.formerNostrGroupIDs.reversed().lazy.compactMap { known[$0.hex] }.first
            let members = group.members
            return AppState.ChatSummary(
                chatID: chatID, groupID: Hex.encode(group.groupID), name: group.data.name,
                description: group.data.description,
                relays: group.data.relays,
                isGroup: members.count > 2
                    || (!group.data.name.isEmpty && group.data.name != "DM" && members.count > 1),
                members: members.map {
                    .init(
                        publicKey: $0, name: self.name(of: $0, inGroup: group.groupID), isAdmin: group.data.isAdmin($0))
                }, isAdmin: group.isAdmin,
                epoch: group.epoch, isActive: group.isActive, lastMessage: before?.lastMessage,
                lastMessageAt: before?.lastMessageAt, lastMessageExpiresAt: before?.lastMessageExpiresAt,
                unreadCount: before?.unreadCount ?? 0, imageHash: group.data.image.map { Hex.encode($0.hash) },
                needsInvitation: self.copiedGroups[group.groupID]?.phase == .overtaken)
        }
        self.state.chatList = chats.sorted { ($0.lastMessageAt ?? 0, $0.chatID) > ($1.lastMessageAt ?? 0, $1.chatID) }
    }

    mutating func push(_ screen: AppState.Screen, _ step: inout CoreStep) {
        self.state.router.stack.append(screen)
        self.fillCurrentChat(&step)
    }

    mutating func pop(_ step: inout CoreStep) {
        _ = self.state.router.stack.popLast()
        self.fillCurrentChat(&step)
    }

    /// A group goes by another public id from now on: what is open stays open.
    mutating func renameChat(_ old: String, to new: String) {
        for (position, screen) in self.state.router.stack.enumerated() {
            switch screen {
            case .chat(old): self.state.router.stack[position] = .chat(chatID: new)
            case .groupInfo(old): self.state.router.stack[position] = .groupInfo(chatID: new)
            default: break
            }
        }
        if self.state.currentChat?.chatID == old { self.state.currentChat?.chatID = new }
        self.refreshBusy()
    }

    private mutating func fillCurrentChat(_ step: inout CoreStep) {
        guard case .chat(let chatID) = self.state.router.top else {
            self.state.currentChat = nil
            return
        }
        self.state.currentChat = .init(chatID: chatID, messages: [], canLoadOlder: true)
        self.hypernoteResponses = [:]
        self.showTyping(inChat: chatID)
        if let position = self.state.chatList.firstIndex(where: { $0.chatID == chatID }) {
            self.state.chatList[position].unreadCount = 0
        }
        if let groupID = try? self.groupID(ofChat: chatID) {
            step.effects.append(.loadMessages(groupID: groupID, before: nil))
        }
    }

    /// Messages that were read from the store, for the chat that is open.
    mutating func show(_ messages: [StoredMessage], of groupID: [UInt8], reachedStart: Bool) {
        guard let chatID = self.groups[groupID]?.data.nostrGroupIDHex, self.state.currentChat?.chatID == chatID else {
            return
        }
        for message in messages.sorted(by: { $0.position < $1.position }) {
            let isPending = self.queue.contains { $0.messageID == message.id }
            self.append(message, message.isOwn ? (isPending ? .pending : .sent) : .received)
        }
        self.state.currentChat?.canLoadOlder = !reachedStart
    }

    /// One new message: the open chat, the preview, the counter.
    mutating func show(_ message: StoredMessage, delivery: AppState.Delivery) {
        guard let chatID = self.groups[message.groupID]?.data.nostrGroupIDHex else { return }
        let isOpen = self.state.currentChat?.chatID == chatID
        if isOpen { self.append(message, delivery) }
        guard Self.isShown(message.rumor.kind),
            let position = self.state.chatList.firstIndex(where: { $0.chatID == chatID })
        else { return }
        self.state.chatList[position].lastMessage = Self.preview(of: message.rumor)
        self.state.chatList[position].lastMessageAt = message.rumor.createdAt
        self.state.chatList[position].lastMessageExpiresAt = message.expiresAt
        if !isOpen, !message.isOwn { self.state.chatList[position].unreadCount += 1 }
    }

    /// Messages of the open chat in a snapshot; older ones are in the store.
    static let maximumShown = 500

    private mutating func append(_ message: StoredMessage, _ delivery: AppState.Delivery) {
        let target = message.rumor.tags.last { $0.name == "e" }?.value.flatMap { try? EventID(hex: $0) }
        if message.rumor.kind == .reaction {
            guard let target, let position = self.state.currentChat?.messages.firstIndex(where: { $0.id == target })
            else { return }
            let reaction = AppState.Reaction(sender: message.rumor.pubkey, emoji: message.rumor.content)
            if self.state.currentChat?.messages[position].reactions.contains(reaction) == false {
                self.state.currentChat?.messages[position].reactions.append(reaction)
            }
            return
        }
        if message.rumor.kind == .hypernoteResponse { return self.takeHypernoteResponse(message, to: target) }
        guard Self.isShown(message.rumor.kind),
            self.state.currentChat?.messages.contains(where: { $0.id == message.id }) == false
        else { return }
        let entry = AppState.ChatMessage(
            id: message.id, sender: message.rumor.pubkey,
            senderName: self.shownName(of: message.rumor.pubkey, inGroup: message.groupID), isOwn: message.isOwn,
            kind: message.rumor.kind,
            content: message.rumor.content, createdAt: message.rumor.createdAt, expiresAt: message.expiresAt,
            replyTo: target, media: MediaAttachment.all(in: message.rumor.tags), reactions: [],
            hypernote: self.hypernoteView(of: message), delivery: delivery)
        let position = self.state.currentChat?.messages.lastIndex {
            ($0.createdAt, $0.id) < (entry.createdAt, entry.id)
        }
        self.state.currentChat?.messages.insert(entry, at: position.map { $0 + 1 } ?? 0)
        if let count = self.state.currentChat?.messages.count, count > Self.maximumShown {
            self.state.currentChat?.messages.removeFirst(count - Self.maximumShown)
            self.state.currentChat?.canLoadOlder = true
        }
    }

    mutating func setDelivery(_ delivery: AppState.Delivery, of row: OutboxRow, _ step: inout CoreStep) {
        guard let id = row.messageID, let chatID = row.groupID.flatMap({ self.groups[$0]?.data.nostrGroupIDHex }) else {
            return
        }
        step.effects.append(.report(chatID: chatID, messageID: id, delivery))
        guard let position = self.state.currentChat?.messages.firstIndex(where: { $0.id == id }) else { return }
        self.state.currentChat?.messages[position].delivery = delivery
    }
}
