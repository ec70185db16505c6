package import Nostr

/// The fate of an event outside of its handlers, with the reason.
package struct CoreNotice: Sendable, Hashable {
    package enum Fate: String, Sendable, Hashable, CaseIterable {
        /// The event is useless, now and later.
        case refused
        /// The event is kept until it can be opened.
        case waiting
        /// The event was kept, and was then dropped.
        case gaveUp = "gave_up"
        /// The event was handled, but an action that its handler requested failed, or was done in part; or the event is this
        /// account's own, and could not be delivered.
        case actionFailed = "action_failed"
    }

    /// The event on the relays: kind 445 or 1059. The inner event of a failed action.
    package let event: EventID
    /// The inner event, if it was opened.
    package let inner: EventID?
    /// The id of the chat; nil if the event belongs to no known one.
    package let chatID: ChatID?
    package let fate: Fate
    /// The raw value of a ``CoreReason``, or the code of an error of Marmot or MLS.
    package let reason: String
    package let detail: String
    /// The time of the outcome.
    package let at: UnixTime

    package init(
        event: EventID, inner: EventID? = nil, chatID: ChatID? = nil, fate: Fate, reason: String, detail: String,
        at: UnixTime
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

/// Receives the outcomes of events that are not delivered to handlers, once they are durable.
package protocol CoreObserver: Sendable {
    /// Receives a notice. Called between the core's turns, so it must return quickly.
    func note(_ notice: CoreNotice)
}

/// An observer that ignores all notices.
package struct NoCoreObserver: CoreObserver {
    package init() {}
    package func note(_ notice: CoreNotice) {}
}
