import MLS
import Nostr

/// The individual messages of the open chat.
extension CoreModel {
    /// Adds a message of the open chat's group to the shown messages.
    mutating func append(_ message: StoredMessage, _ delivery: AppState.Delivery) {
        let target = message.rumor.tags.last { $0.name == "e" }?.value.flatMap { try? EventID(hex: $0) }
        if message.rumor.kind == .reaction {
            if let target { self.react(message, to: target) }
            return
        }
        if message.rumor.kind == .hypernoteResponse { return self.receiveHypernoteResponse(message, to: target) }
        guard Self.isShown(message.rumor.kind), self.chats.open?.shows(message.id) != true else { return }
        let entry = AppState.ChatMessage(
            id: message.id, sender: message.rumor.pubkey,
            senderName: self.shownName(of: message.rumor.pubkey, inGroup: message.groupID),
            isOwn: message.isOwn, kind: message.rumor.kind, content: message.rumor.content,
            createdAt: message.rumor.createdAt, time: message.time, expiresAt: message.expiresAt, replyTo: target,
            media: MediaAttachment.all(in: message.rumor.tags),
            downloads: self.downloads(of: message),
            reactions: [], hypernote: self.hypernoteView(of: message), delivery: delivery)
        self.chats.open?.show(message)
        let place = self.shownPlace(message.time, message.id)
        self.state.currentChat?.messages.insert(entry, at: place)
        let reactions = self.chats.open?.removeReactions(to: message.id) ?? []
        for reaction in reactions { self.add(reaction, to: message.id) }
    }

    private func downloads(of message: StoredMessage) -> [Int: AppState.MediaDownload] {
        guard self.media.hasDownloads else { return [:] }
        return self.media.downloads(of: self.messageKey(message.id, in: message.groupID))
    }

    private func shownPlace(_ time: UnixTime, _ id: EventID) -> Int {
        self.state.currentChat?.messages.place { ($0.time, $0.id) < (time, id) } ?? 0
    }

    /// Returns the position of a message among those shown; nil if it is not shown.
    func shownPosition(of id: EventID) -> Int? {
        self.chats.open?.time(of: id).map { self.shownPlace($0, id) }
    }

    /// Changes a message if it is shown.
    mutating func changeShown(
        _ id: EventID, in groupID: GroupID, _ change: (inout AppState.ChatMessage) -> Void
    ) {
        guard self.chats.open?.groupID == groupID, let position = self.shownPosition(of: id),
            var message = self.state.currentChat?.messages[position]
        else { return }
        change(&message)
        self.state.currentChat?.messages[position] = message
    }

    // MARK: Reactions

    /// The maximum size of a reaction: an emoji of many parts takes 35 bytes, a name between colons somewhat more.
    private static let maximumReactionBytes = 128
    /// The maximum number of distinct reactions shown per message.
    private static let maximumReactions = 200

    private mutating func react(_ message: StoredMessage, to target: EventID) {
        let emoji = message.rumor.content.trimmed
        guard (1...Self.maximumReactionBytes).contains(emoji.utf8.count) else { return }
        let reaction = OpenChat.PendingReaction(
            position: message.position, sender: message.rumor.pubkey, emoji: emoji)
        if self.chats.open?.shows(target) == true {
            self.add(reaction, to: target)
        } else {
            self.chats.open?.keep(reaction, to: target)
        }
    }

    private mutating func add(_ reaction: OpenChat.PendingReaction, to target: EventID) {
        guard let groupID = self.chats.open?.groupID else { return }
        let isOwn = reaction.sender == self.account.publicKey
        self.changeShown(target, in: groupID) { message in
            guard let index = message.reactions.firstIndex(where: { $0.emoji == reaction.emoji }) else {
                guard message.reactions.count < Self.maximumReactions else { return }
                message.reactions.append(
                    .init(emoji: reaction.emoji, senders: [reaction.sender], isOwn: isOwn))
                return
            }
            guard !message.reactions[index].senders.contains(reaction.sender) else { return }
            message.reactions[index].senders.append(reaction.sender)
            if isOwn { message.reactions[index].isOwn = true }
        }
    }

    // MARK: Removal

    mutating func dropShown(first count: Int) {
        guard let gone = self.state.currentChat?.messages.prefix(count) else { return }
        self.chats.open?.hide(gone)
        self.state.currentChat?.messages.removeFirst(count)
    }

    mutating func dropShown(where isGone: (AppState.ChatMessage) -> Bool) {
        guard let gone = self.state.currentChat?.messages.filter(isGone), !gone.isEmpty else { return }
        self.chats.open?.hide(gone)
        self.state.currentChat?.messages.removeAll(where: isGone)
    }
}
