import MLS
import Nostr

/// Members who are typing, and this account's own typing notices (wire §8.0). Never stored.
struct TypingNotices: Sendable {
    /// Seconds that a notice stays valid after it was written.
    static let lifetime: Int64 = 10
    /// Milliseconds between two notices of this account in one chat.
    static let interval: Int64 = 5000
    /// Milliseconds that a notice may wait for a relay.
    static let patience: Int64 = 5000

    /// When this account last sent a notice to each group, in Unix milliseconds.
    var told: [GroupID: Int64] = [:]
    /// When each member's typing state expires, in Unix seconds.
    var members: [GroupID: [PublicKey: Int64]] = [:]
    /// Notices in flight, with the deadline of each in Unix milliseconds.
    var rows: [String: Int64] = [:]
    /// The scheduled wake-up, in Unix milliseconds.
    var wake: Int64?

    /// The next expiry or deadline, in Unix milliseconds.
    var nextEnd: Int64? {
        let members = self.members.values.lazy.flatMap(\.values).min().map { $0.clampedMultiplied(by: 1000) }
        guard let rows = self.rows.values.min() else { return members }
        return min(rows, members ?? .max)
    }
}

extension UnsignedEvent {
    /// Whether it is a typing notice; any other event of that kind is treated as unknown.
    var isTypingNotice: Bool {
        self.kind == .typing && self.content == "typing" && self.tags.contains { $0.name == "d" && $0.value == "pika" }
    }
}
