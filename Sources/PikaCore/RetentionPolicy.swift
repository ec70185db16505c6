/// What an account keeps, and for how long.
public struct RetentionPolicy: Sendable, Hashable {
    /// How long messages are kept; nil for ever. Those that end earlier by themselves do.
    public var messages: Duration?
    /// How many messages of each group are kept, the newest; nil for all.
    public var newestMessages: Int?
    /// How long an event waits for its handler, across restarts, before it is given up; nil for ever. An event that
    /// handlers have already is given up after the next start at the earliest.
    public var unhandled: Duration?
    /// How many events may wait for their handlers; beyond that the oldest are given up.
    public var maximumUnhandled: Int

    /// Bytes of events that may wait for their handlers; beyond that the oldest are given up.
    static let maximumUnhandledBytes = 64 << 20

    public init(messages: Duration?, newestMessages: Int?, unhandled: Duration?, maximumUnhandled: Int) {
        self.messages = messages
        self.newestMessages = newestMessages
        self.unhandled = unhandled
        self.maximumUnhandled = maximumUnhandled
    }

    /// All messages for ever; events for handlers 30 days, and not more than 10,000.
    public static let standard = RetentionPolicy(
        messages: nil, newestMessages: nil, unhandled: .seconds(30 * 86_400), maximumUnhandled: 10_000)

    /// The messages that are not kept at a time, in Unix seconds; nil if all are.
    func surplus(at now: Int64) -> MessageSurplus? {
        let age = self.messages.map { $0.components.seconds }
        guard age != nil || self.newestMessages != nil else { return nil }
        return MessageSurplus(before: age.map { now - $0 }, beyondNewest: self.newestMessages)
    }
}
