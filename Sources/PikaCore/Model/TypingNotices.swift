import MLS
import Nostr

/// Who types, and what was told of this account's own typing (wire §8.0). Never stored.
struct TypingNotices: Sendable {
    /// Seconds that a notice holds, from when it was written.
    static let lifetime: Int64 = 10
    /// Milliseconds between two notices of this account in one chat.
    static let interval: Int64 = 5000
    /// Milliseconds that a notice may wait for a relay.
    static let patience: Int64 = 5000

    /// When each group was told last, in Unix milliseconds.
    var told: [GroupID: Int64] = [:]
    /// Until when each member types, in Unix seconds.
    var members: [GroupID: [PublicKey: Int64]] = [:]
    /// Notices on their way, and when each is given up, in Unix milliseconds.
    var rows: [String: Int64] = [:]
    /// When the core looks at all this, in Unix milliseconds.
    var wake: Int64?

    /// The next time at which something ends, in Unix milliseconds.
    var nextEnd: Int64? {
        let members = self.members.values.lazy.flatMap(\.values).min().map { $0.clampedMultiplied(by: 1000) }
        guard let rows = self.rows.values.min() else { return members }
        return min(rows, members ?? .max)
    }
}

extension UnsignedEvent {
    /// Whether it tells that its author types; any other event of that kind is just an unknown one.
    var isTypingNotice: Bool {
        self.kind == .typing && self.content == "typing" && self.tags.contains { $0.name == "d" && $0.value == "pika" }
    }
}
