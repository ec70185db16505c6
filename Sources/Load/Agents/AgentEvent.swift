import Nostr
import PikaCore

/// What an agent tells while it lives. Times are taken when it is told.
enum AgentEvent: Sendable {
    case connected(RelayURL)
    /// A connection was lost, or could not be made.
    case disconnected(RelayURL, reason: String)
    /// A relay has its key package.
    case keyPackagePublished
    /// Every relay was read, or does not answer.
    case caughtUp
    /// An invitation goes out to an account, in this gift wrap; told again whenever it goes out again.
    case wrapSent(EventID, to: PublicKey)
    /// A gift wrap came in; from each relay that has it.
    case wrapSeen(EventID)
    case joined(chatID: String)
    /// - Parameter inboxID: the same if it comes again after a restart.
    case message(chatID: String, MessageEvent, inboxID: Int64)
    case commit(chatID: String, CommitEvent)
    /// What became of an own message.
    case delivery(EventID, AppState.Delivery)
    /// It ended by itself, which it must not.
    case failed(String)
}

/// Takes what agents tell; called from many tasks, and quick.
protocol AgentListener: Sendable {
    func agent(_ index: Int, _ event: AgentEvent)
}
