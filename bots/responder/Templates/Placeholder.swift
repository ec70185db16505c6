/// A placeholder in braces in a text of a rule, filled in when the rule applies.
enum Placeholder: Hashable, Sendable {
    /// The npub of the event's author.
    case sender
    /// The author's display name, or the start of their npub.
    case name
    /// The message's content.
    case text
    /// Everything after the command's name.
    case args
    /// A word after the command's name, or a capture group of the expression; from 1.
    case positional(Int)
    /// The text that the whole expression matched.
    case match
    case emoji
    /// The members who joined, left or were removed, by name.
    case who
    /// The chat's name, or `this chat` if it has none.
    case chat
    case chatID
    /// The number of members of the chat.
    case members
    /// The account's name.
    case me
    /// The current date, as `2026-11-21`.
    case date
    /// The current time, as `20:31`.
    case time
    /// The name of the item's feed.
    case feed
    /// A member of the item's JSON, by the names and positions that lead to it: `{item.order.lines.0.name}`.
    case member([String])
    /// The last answer of a webhook, program or agent of the rule.
    case answer

    private static let words: [(name: String, value: Placeholder)] = [
        ("sender", .sender), ("name", .name), ("text", .text), ("args", .args), ("0", .match), ("emoji", .emoji),
        ("who", .who), ("chat", .chat), ("chatID", .chatID), ("members", .members), ("me", .me), ("date", .date),
        ("time", .time), ("feed", .feed), ("answer", .answer),
    ]

    /// All names except those of the numbered placeholders.
    static var names: [String] { words.map(\.name) }
    static let maximumPositional = 20
    private static let memberPrefix = "item."
    private static let maximumDepth = 8

    init?(_ name: some StringProtocol) {
        if let word = Self.words.first(where: { $0.name == name }) {
            self = word.value
        } else if let number = Int(name), (1...Self.maximumPositional).contains(number), String(number) == name {
            self = .positional(number)
        } else if name.hasPrefix(Self.memberPrefix) {
            let parts = name.dropFirst(Self.memberPrefix.count).split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count <= Self.maximumDepth, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
            self = .member(parts.map { String($0) })
        } else {
            return nil
        }
    }

    var name: String {
        if case .positional(let number) = self { return String(number) }
        if case .member(let path) = self { return Self.memberPrefix + path.joined(separator: ".") }
        return Self.words.first { $0.value == self }?.name ?? ""
    }
}
