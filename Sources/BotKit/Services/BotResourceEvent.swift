/// What happens to a bot's connections, outboxes, tokens and databases, for the runtime's metrics.
package enum BotResourceEvent: Sendable, Hashable {
    /// The results of a renewal; the raw values are metric labels.
    package enum Renewal: String, Sendable, CaseIterable {
        case renewed
        /// The service ended the session.
        case refused
        /// No clear answer, or the new tokens could not be stored.
        case failed
    }

    /// The ends of a request; the raw values are metric labels.
    package enum RequestEnd: String, Sendable, CaseIterable {
        case answered, expired, failed
    }

    /// The requests of an outbox that wait or are in flight.
    case outboxSize(Int)
    case outboxEnded(RequestEnd)
    case connection(BotConnectionState)
    case tokens(Renewal)
    /// A statement or a copy of a database has failed.
    case database(failure: BotError.Code)

    /// Receives an event of a bot's object of this name.
    package typealias Observer = @Sendable (_ event: BotResourceEvent, _ bot: String, _ name: String) -> Void
}

extension BotResourceEvent.RequestEnd {
    init(_ result: OutboxOutcome.Result) {
        self =
            switch result {
            case .answered: .answered
            case .expired: .expired
            case .failed: .failed
            }
    }
}
