import Yams

/// Detects names that suggest a secret, so that their value must be a reference, never the secret itself.
enum SecretNames {
    /// Judged by the last word of a name: `botToken` and `API_KEY` are secrets, `tokenBudget` and `PASSWORD_FILE` are
    /// not.
    private static let lastWords: Set<String> = [
        "token", "password", "passwd", "passphrase", "secret", "authorization", "apikey", "nsec", "cookie",
    ]
    private static let wordsBeforeKey: Set<String> = ["api", "access", "private", "secret", "auth"]

    static func suggestsSecret(_ name: String) -> Bool {
        let words = words(of: name)
        guard let last = words.last else { return false }
        if last == "key", let before = words.dropLast().last { return wordsBeforeKey.contains(before) }
        return lastWords.contains(last)
    }

    /// Returns whether a scalar is a secret according to its key. Empty values, null, true and false are not.
    static func isSecret(_ scalar: Node.Scalar, under name: String?) -> Bool {
        let isWord = scalar.style == .plain && ["~", "null", "true", "false"].contains(scalar.string)
        guard let name, !scalar.string.isEmpty, !isWord else { return false }
        return suggestsSecret(name)
    }

    /// Returns whether the text is a command option with a secret, such as `--token=…`.
    static func isOption(_ text: String) -> Bool {
        guard text.hasPrefix("--"), let end = text.firstIndex(of: "="), text[end...].count > 1 else { return false }
        return suggestsSecret(String(text[..<end]))
    }

    /// Returns whether a URL in a text contains a password: `https://user:password@host`. A user name alone counts for
    /// HTTP and WebSocket URLs, where it may be a token; `ssh://git@host` does not.
    static func hasPassword(_ text: String) -> Bool {
        var rest = text[...]
        while let mark = rest.firstRange(of: "://") {
            let scheme = rest[..<mark.lowerBound].lowercased()
            rest = rest[mark.upperBound...]
            let authority = rest.prefix { !"/?#\\\"'<>".contains($0) && !$0.isWhitespace }
            guard let user = authority.lastIndex(of: "@").map({ authority[..<$0] }), !user.isEmpty else { continue }
            if user.contains(":") || ["http", "https", "ws", "wss"].contains(where: scheme.hasSuffix) { return true }
        }
        return false
    }

    /// Splits a name into words: `botToken`, `BOT_TOKEN`, `bot-token` and `Bot token` give the same.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        var previousIsSmall = false
        for letter in name {
            let isLetter = letter.isLetter || letter.isNumber
            if !isLetter || (letter.isUppercase && previousIsSmall) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if isLetter { word += letter.lowercased() }
            previousIsSmall = letter.isLowercase || letter.isNumber
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
