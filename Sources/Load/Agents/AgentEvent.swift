import Nostr
import PikaCore

/// An agent's event. Its time is that of the report.
enum AgentEvent: Sendable {
    case connected(RelayURL)
    /// A connection was lost or failed.
    case disconnected(RelayURL, reason: String)
    /// A relay has accepted the agent's key package.
    case keyPackagePublished
    /// Every relay was read or is unreachable.
    case caughtUp
    /// An invitation to an account was sent in this gift wrap; reported for each attempt.
    case wrapSent(EventID, to: PublicKey)
    /// A gift wrap arrived; reported for each relay that delivers it.
    case wrapSeen(EventID)
    case joined(chatID: ChatID)
    /// - Parameter inboxID: unchanged when the message is delivered again after a restart.
    case message(chatID: ChatID, MessageEvent, inboxID: Int64)
    /// A message left the group's history, or came back.
    case withdrawn(chatID: ChatID, WithdrawnEvent)
    case commit(chatID: ChatID, CommitEvent)
    /// Delivery status of the agent's own message.
    case delivery(EventID, AppState.Delivery)
    /// The agent ended unexpectedly.
    case failed(String)
}

extension AgentEvent {
    /// Describes an event for handlers; nil for those that no report counts.
    init?(_ event: CoreEvent) {
        switch event.content {
        case .message(let message): self = .message(chatID: event.chatID, message, inboxID: event.inboxID)
        case .withdrawn(let message): self = .withdrawn(chatID: event.chatID, message)
        case .commit(let commit): self = .commit(chatID: event.chatID, commit)
        case .joined: self = .joined(chatID: event.chatID)
        case .outcome, .proposal, .call, .feed: return nil
        }
    }
}

/// Receives agents' events; called from many tasks, must return quickly.
protocol AgentListener: Sendable {
    func agent(_ index: Int, _ event: AgentEvent)
}
