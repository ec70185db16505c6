import Nostr

/// Limits on the number and age of an account's stored items.
public struct RetentionPolicy: Sendable, Hashable {
    /// The maximum age of messages; nil to keep them for ever. Messages with an earlier expiry are deleted then.
    public var messages: Duration?
    /// The number of newest messages kept in each group; nil for all.
    public var newestMessages: Int?
    /// The time that an event waits for its handler, across restarts, before it is dropped; nil for ever. An event
    /// already delivered to handlers is dropped after the next start at the earliest.
    public var unhandled: Duration?
    /// The maximum number of events waiting for their handlers; beyond it the oldest are dropped.
    public var maximumUnhandled: Int

    /// The maximum size in bytes of the events waiting for their handlers; beyond it the oldest are dropped.
    static let maximumUnhandledBytes = 64 << 20

    /// Creates a policy; nil for no limit.
    public init(messages: Duration?, newestMessages: Int?, unhandled: Duration?, maximumUnhandled: Int) {
        self.messages = messages
        self.newestMessages = newestMessages
        self.unhandled = unhandled
        self.maximumUnhandled = maximumUnhandled
    }

    /// Keeps all messages for ever; events for handlers for 30 days, at most 10,000.
    public static let standard = RetentionPolicy(
        messages: nil, newestMessages: nil, unhandled: .seconds(30 * 86_400), maximumUnhandled: 10_000)

    /// Returns the rule for messages to delete at a time; nil if all are kept.
    func surplus(at now: UnixTime) -> MessageSurplus? {
        let age = self.messages.map { $0.components.seconds }
        guard age != nil || self.newestMessages != nil else { return nil }
        return MessageSurplus(before: age.map { now - $0 }, beyondNewest: self.newestMessages)
    }
}
