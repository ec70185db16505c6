import MLS
import Marmot
import Nostr

/// The list of chats, kept consistent with the groups and with each chat's ``ChatRecord``.
extension CoreModel {
    /// Builds the whole list, at the start. ``refreshChat(_:)`` makes later changes.
    mutating func refreshChatList() {
        let chats = self.groups.values.map { ($0.groupID, self.summary(of: $0)) }
            .sorted { ChatPlace($0.1) > ChatPlace($1.1) }
        self.state.chatList = SharedArray(chats.map(\.1))
        self.chats.replacePlaces(Dictionary(uniqueKeysWithValues: chats.map { ($0.0, ChatPlace($0.1)) }))
    }

    /// Updates one chat from its group.
    mutating func refreshChat(_ groupID: GroupID) {
        guard let group = self.groups[groupID] else { return }
        self.put(self.summary(of: group), of: groupID)
        self.refreshOpenChat(groupID)
    }

    /// Changes the record of a chat, and its entry in the list.
    mutating func changeChat(_ groupID: GroupID, _ change: (inout ChatRecord) -> Void) {
        guard let record = self.chats.change(groupID, change), let position = self.position(ofChat: groupID) else {
            return
        }
        var summary = self.state.chatList[position]
        summary.apply(record)
        self.put(summary, of: groupID)
    }

    /// Returns the chat's position in the list.
    func position(ofChat groupID: GroupID) -> Int? {
        guard let place = self.chats.places[groupID] else { return nil }
        let position = self.state.chatList.place { ChatPlace($0) > place }
        return position < self.state.chatList.count ? position : nil
    }

    private mutating func put(_ summary: AppState.ChatSummary, of groupID: GroupID) {
        let place = ChatPlace(summary)
        if let position = self.position(ofChat: groupID) {
            if self.state.chatList[position] == summary { return }
            guard place != self.chats.places[groupID] else {
                self.state.chatList[position] = summary
                return
            }
            self.state.chatList.remove(at: position)
        }
        self.chats.move(groupID, to: place)
        self.state.chatList.insert(summary, at: self.state.chatList.place { ChatPlace($0) > place })
    }

    private func summary(of group: AccountGroup) -> AppState.ChatSummary {
        let data = group.data
        let members = group.members.map {
            AppState.Member(
                publicKey: $0, name: self.name(of: $0, inGroup: group.groupID),
                picture: self.picture(of: $0, inGroup: group.groupID), isAdmin: data.isAdmin($0))
        }
        let isGroup = members.count > 2 || (!data.name.isEmpty && data.name != "DM" && members.count > 1)
        let names = self.title(name: data.name, isGroup: isGroup, members: members)
        let isOvertaken = self.convergence.copies.isOvertaken(group.groupID)
        let record = self.chats[group.groupID] ?? ChatRecord()
        let isMember = group.isActive && !self.hasLeft(group.groupID)
        let end: AppState.ChatEnd? =
            isMember ? (isOvertaken ? .overtaken : nil) : record.end ?? .removed(by: nil)
        var summary = AppState.ChatSummary(
            chatID: ChatID(group.groupID), routingIDs: self.groups.routes.ids(of: group.groupID).map(\.hex),
            name: data.name, description: data.description, relays: data.relays, isGroup: isGroup,
            members: [], isAdmin: isMember && group.isAdmin,
            epoch: group.epoch.rawValue,
            isActive: isMember, unreadCount: 0, imageHash: data.image.map { Hex.encode($0.hash) },
            needsInvitation: isOvertaken, displayName: names.title, subtitle: isMember ? names.subtitle : nil,
            endReason: end)
        summary.sharesNostrGroupID = self.groups.routes.groups(claiming: data.nostrGroupID).count > 1
        summary.generation = group.generation
        summary.convergence = group.second.map { ChatConvergence($0.convergence.status) }
        if case .unrecoverable = summary.convergence {
            let isDismissed = self.hasLeft(group.groupID)
            summary.needsInvitation = !isDismissed
            if isDismissed { summary.convergence = nil } else { summary.endReason = .overtaken }
        }
        if let hash = group.picture.image?.hash { summary.imageHash = hash.hex }
        if isMember { summary.show(members, account: self.account.publicKey) }
        summary.proposals = self.waitingProposals(of: group)
        summary.apply(record)
        return summary
    }

    // MARK: Messages

    /// Lists a new message, own or received: it becomes the preview, and counts as unread unless the chat is open.
    mutating func list(_ message: StoredMessage, isOpen: Bool, now: UnixTime) {
        guard Self.isShown(message.rumor.kind) else { return }
        // A sender whose clock is ahead must not keep its chat on top.
        let time = min(message.time, now)
        self.changeChat(message.groupID) { record in
            record.isArchived = false
            if time >= record.lastMessageAt ?? .distantPast {
                record.lastMessage = Self.preview(of: message.rumor)
                record.lastMessageAt = time
                record.lastMessageExpiresAt = message.expiresAt
            }
            guard !isOpen, !message.isOwn else { return }
            record.unreadCount += 1
            if record.firstUnread == nil { record.firstUnread = message.id }
        }
    }

    /// Removes the preview text of chats whose last message is no longer kept.
    mutating func forgetLastMessages(where isGone: (ChatRecord) -> Bool) {
        for groupID in self.chats.withLastMessage(where: isGone) {
            self.changeChat(groupID) { record in
                record.lastMessage = nil
                record.lastMessageExpiresAt = nil
            }
        }
    }
}

extension AppState.ChatSummary {
    /// Sets the members of a group that this account belongs to.
    ///
    /// - Parameter all: all members, in the order of their leaves.
    fileprivate mutating func show(_ all: [AppState.Member], account: PublicKey) {
        self.members = all.filter { $0.publicKey != account }
        guard let position = all.firstIndex(where: { $0.publicKey == account }) else { return }
        self.me = all[position]
        self.ownPosition = position
    }

    fileprivate mutating func apply(_ record: ChatRecord) {
        self.lastMessage = record.lastMessage
        self.lastMessageAt = record.lastMessageAt
        self.lastMessageExpiresAt = record.lastMessageExpiresAt
        self.unreadCount = record.unreadCount
        self.firstUnread = record.firstUnread
        self.isArchived = record.isArchived
    }
}
