extension EventFilter<MessageEvent> {
    /// Only messages of these kinds.
    public static func kind(_ kinds: Kind...) -> Self {
        Self { message, _ in kinds.contains(message.kind) }
    }

    /// Only commands with this name, as parsed by ``OnCommand``.
    public static func command(_ name: String, prefix: String = "/") -> Self {
        Self { message, scope in Command(message, in: scope, prefix: prefix)?.name == name.lowercased() }
    }

    /// Only messages that mention the account: by a `p` tag with its key (replies to it have one), its npub, or its
    /// name as a separate word. A name of one or two letters needs a leading `@`.
    public static var mention: Self {
        Self { message, scope in
            message.tags.all(named: "p").contains { $0.value == scope.account.hex }
                || message.content.split(whereSeparator: \.isWhitespace).contains(where: scope.isMention)
        }
    }

    /// Only replies to messages of the account: with an `e` tag (docs/protocol/marmot.md §8.1) and a `p` tag of the
    /// account, or with a `q` tag that names the account (NIP-C7). The tags are unverified claims of the sender. Replies of
    /// White Noise name only the message: they count if their text also mentions the account.
    public static var reply: Self {
        Self { message, scope in
            let own = scope.account.hex
            let quotes = message.tags.all(named: "q").contains { $0.values.count > 3 && $0.values[3] == own }
            return quotes || (message.target != nil && message.tags.all(named: "p").contains { $0.value == own })
        }
    }

    /// Only messages with files.
    public static var media: Self { Self { message, _ in !message.media.isEmpty } }

    /// Only messages of kinds that Pika and Marmot clients do not send in groups.
    public static var unknownKind: Self {
        let known: Set<Kind> = [
            .metadata, .deletion, .reaction, .chatMessage, .callSignal, .pushTokenRequest, .pushTokenList,
            .pushTokenRemoval, .accountProof, .pushTokenProof, .edit, .pollVote, .poll, .agentStreamStart,
            .agentActivity, .agentOperation, .groupSystem, .report, .reportDismissal, .adminDeletion, .hypernote,
            .hypernoteResponse, .typing,
        ]
        return Self { message, _ in !known.contains(message.kind) }
    }

    /// Only messages whose content contains this text, ignoring case.
    public static func containing(_ text: String) -> Self {
        let text = text.lowercased()
        return Self { message, _ in message.content.lowercased().contains(text) }
    }
}

extension EventScope {
    /// Returns whether a word, ignoring punctuation around it, mentions the account.
    func isMention(_ word: Substring) -> Bool {
        let word = word.lowercased()
        if word.contains(account.npub) { return true }
        let name = accountName.lowercased()
        guard !name.isEmpty else { return false }
        let bare = word.split { !$0.isLetter && !$0.isNumber && !"@-_".contains($0) }
        return bare.contains { $0 == "@" + name || (name.count > 2 && $0 == name) }
    }
}
