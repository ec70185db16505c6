extension EventFilter<MessageEvent> {
    public static func kind(_ kinds: Kind...) -> Self {
        Self { message, _ in kinds.contains(message.kind) }
    }

    /// Only commands of this name, as ``OnCommand`` reads them.
    public static func command(_ name: String, prefix: String = "/") -> Self {
        Self { message, scope in Command(message, in: scope, prefix: prefix)?.name == name.lowercased() }
    }

    /// Only messages that speak of the account: a `p` tag with its key (answers to it have one), its npub, or its name
    /// as a word of its own. A name of one or two letters needs an `@` in front.
    public static var mention: Self {
        Self { message, scope in
            message.tags.all(named: "p").contains { $0.value == scope.account.hex }
                || message.content.split(whereSeparator: \.isWhitespace).contains(where: scope.isMention)
        }
    }

    /// Only answers to messages of the account: an `e` tag (wire §8.0) with a `p` tag of the account beside it, or a `q`
    /// tag that names the account (NIP-C7). The tags are the sender's word.
    public static var reply: Self {
        Self { message, scope in
            let own = scope.account.hex
            let quotes = message.tags.all(named: "q").contains { $0.values.count > 3 && $0.values[3] == own }
            return quotes || (message.target != nil && message.tags.all(named: "p").contains { $0.value == own })
        }
    }

    /// Only messages with files.
    public static var media: Self { Self { message, _ in !message.media.isEmpty } }

    /// Only kinds that have no meaning here: not what Pika and Marmot clients put into groups.
    public static var unknownKind: Self {
        let known: Set<Kind> = [
            .metadata, .deletion, .reaction, .chatMessage, .callSignal, .pushTokenRequest, .pushTokenList,
            .pushTokenRemoval, .hypernote, .hypernoteResponse, .typing,
        ]
        return Self { message, _ in !known.contains(message.kind) }
    }

    /// Only messages whose content has this text somewhere; capitals make no difference.
    public static func containing(_ text: String) -> Self {
        let text = text.lowercased()
        return Self { message, _ in message.content.lowercased().contains(text) }
    }
}

extension EventScope {
    /// Whether a word, with whatever punctuation around it, means the account.
    func isMention(_ word: Substring) -> Bool {
        let word = word.lowercased()
        if word.contains(account.npub) { return true }
        let name = accountName.lowercased()
        guard !name.isEmpty else { return false }
        let bare = word.split { !$0.isLetter && !$0.isNumber && !"@-_".contains($0) }
        return bare.contains { $0 == "@" + name || (name.count > 2 && $0 == name) }
    }
}
