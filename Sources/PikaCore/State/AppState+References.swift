/// References to chats by users: a chat id, or the group's nostrGroupID, which groups can change and share.
extension AppState {
    /// Returns the chat that a reference names, its hexadecimal digits in either case; nil if absent.
    ///
    /// Throws `AppCoreError.Code.ambiguousChat` for a nostrGroupID that several groups claim.
    package func chat(named reference: String) throws(AppCoreError) -> ChatSummary? {
        if let chat = self.chatList.first(where: { $0.chatID.rawValue == reference }) { return chat }
        let reference = reference.lowercased()
        var claimants: [ChatSummary] = []
        for chat in self.chatList {
            if chat.chatID.rawValue == reference { return chat }
            if chat.routingIDs.contains(reference) { claimants.append(chat) }
        }
        guard claimants.count < 2 else { throw .ambiguousChat(reference, claimants.map(\.chatID)) }
        return claimants.first
    }

    /// Returns the name of a chat in interfaces with a `nostr_group_id`: its ``ChatSummary/nostrGroupID``.
    package func nostrGroupID(ofChat chatID: ChatID) -> String {
        self.chatList.first { $0.chatID == chatID }?.nostrGroupID ?? chatID.rawValue
    }

    /// Returns whether a list of lower-case references names a chat. A nostrGroupID that other groups claim too matches
    /// none.
    package func matches(_ references: some Collection<ChatID>, _ chat: ChatSummary) -> Bool {
        if references.contains(chat.chatID) { return true }
        return chat.routingIDs.contains { id in
            references.contains(ChatID(rawValue: id)) && (try? self.chat(named: id))?.chatID == chat.chatID
        }
    }
}

extension AppState.ChatSummary {
    /// Hex of the group's current nostrGroupID; the ``chatID`` if other groups claim it too. Names the chat in
    /// interfaces with a `nostr_group_id`.
    package var nostrGroupID: String {
        let own = self.chatID.rawValue
        return self.sharesNostrGroupID ? own : self.routingIDs.first ?? own
    }
}
