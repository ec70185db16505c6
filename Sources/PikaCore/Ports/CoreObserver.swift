public import Nostr

/// What the core did with an event that no handler is told of, and why.
public struct CoreNotice: Sendable, Hashable {
    public enum Fate: String, Sendable, Hashable, CaseIterable {
        /// It is of no use, now or later.
        case refused
        /// It is kept until it can be opened.
        case waiting
        /// It was kept, and is not any more.
        case gaveUp = "gave_up"
    }

    /// The event as a relay has it: kind 445 or 1059.
    public let event: EventID
    /// The inner event, if it was opened.
    public let inner: EventID?
    /// Nil if it belongs to no known chat.
    public let chatID: String?
    public let fate: Fate
    /// A word, such as `not_admin` or `no_key`.
    public let reason: String
    public let detail: String
    /// Unix seconds.
    public let at: Int64

    public init(
        event: EventID, inner: EventID? = nil, chatID: String? = nil, fate: Fate, reason: String, detail: String,
        at: Int64
    ) {
        self.event = event
        self.inner = inner
        self.chatID = chatID
        self.fate = fate
        self.reason = reason
        self.detail = detail
        self.at = at
    }
}

/// Hears what became of events that no handler is told of, once that is durable.
public protocol CoreObserver: Sendable {
    /// Called between the core's turns: quick.
    func note(_ notice: CoreNotice)
}

/// Hears nothing.
public struct NoCoreObserver: CoreObserver {
    public init() {}
    public func note(_ notice: CoreNotice) {}
}
