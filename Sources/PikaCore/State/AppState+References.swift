/// References to chats by users: a chat id, or the group's nostrGroupID, which groups can change and share.
extension AppState {
    /// Returns the chat that a reference names, its hexadecimal digits in either case; nil if absent.
    ///
    /// Throws `AppCoreError.Code.ambiguousChat` for a nostrGroupID that several groups claim.
    package func chat(named reference: String) throws(AppCoreError) -> ChatSummary? {
        if let chat = self.chatList.first(where: { $0.chatID == reference }) { return chat }
        let reference = reference.lowercased()
        var claimants: [ChatSummary] = []
        for chat in self.chatList {
            if chat.chatID == reference { return chat }
            if chat.routingIDs.contains(reference) { claimants.append(chat) }
        }
        guard claimants.count < 2 else { throw .ambiguousChat(reference, claimants.map(\.chatID)) }
        return claimants.first
    }

    /// Returns the name of a chat in interfaces with a `nostr_group_id`: its ``ChatSummary/nostrGroupID``.
    package func nostrGroupID(ofChat chatID: String) -> String {
        self.chatList.first { $0.chatID == chatID }?.nostrGroupID ?? chatID
    }

    /// Returns whether a list of lower-case references names a chat. A nostrGroupID that other groups claim too matches
    /// none.
    package func matches(_ references: some Collection<String>, _ chat: ChatSummary) -> Bool {
        if references.contains(chat.chatID) { return true }
        return chat.routingIDs.contains { id in
            references.contains(id) && (try? self.chat(named: id))?.chatID == chat.chatID
        }
    }
}

extension AppState.ChatSummary {
    /// Hex of the group's current nostrGroupID; the ``chatID`` if other groups claim it too. Names the chat in
    /// interfaces with a `nostr_group_id`.
    package var nostrGroupID: String { self.sharesNostrGroupID ? self.chatID : self.routingIDs.first ?? self.chatID }
}

/// The syntax of chat references.
package enum ChatReference {
    /// Returns an MLS group id or a nostrGroupID in lower-case hexadecimal digits; nil for any other text.
    ///
    /// MLS group ids may be shorter than the accepted minimum, but the prefixes in logs must not be accepted as ids.
    package static func parse(_ text: String) -> String? {
        let count = text.utf8.count
        guard (16...510).contains(count), count.isMultiple(of: 2), text.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { return nil }
        return text.lowercased()
    }
}
