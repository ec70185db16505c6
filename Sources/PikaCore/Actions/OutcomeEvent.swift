public import Errors
public import Nostr

/// The outcome of an action that a handler requested.
///
/// A message may have two outcomes: it is published when a first relay has it, and delivered when all relays of its group
/// have answered. Every other action has one.
public struct OutcomeEvent: Sendable, Hashable {
    /// The action, as returned by the call that requested it.
    public let action: ActionID
    /// The name of the action, such as `send_message` or `add_group_members`: the case of ``AppAction`` in snake case.
    public let kind: String
    /// The result.
    public let result: ActionResult

    package init(action: ActionID, kind: String, result: ActionResult) {
        self.action = action
        self.kind = kind
        self.result = result
    }
}

/// The result of an action that a handler requested.
public enum ActionResult: Sendable, Hashable {
    /// Done. The event's chat is the one that the action was about, or that it created.
    case done
    /// A first relay has the message. The relay is unknown if its answer was lost and the message came back.
    case published(messageID: EventID, relays: [RelayURL])
    /// All relays of the group have answered, and these have the message.
    case delivered(messageID: EventID, relays: [RelayURL])
    /// Done, except for these peers.
    case partlyDone(left: [PublicKey: InviteFailure])
    /// Failed; nothing was changed. A message of this id may be retried.
    case failed(AppCoreError, messageID: EventID? = nil)

    /// A short name, as in metrics and JSON.
    public var name: String {
        switch self {
        case .done: "done"
        case .published: "published"
        case .delivered: "delivered"
        case .partlyDone: "partly_done"
        case .failed: "failed"
        }
    }

    /// The error of a failed action; nil for others.
    public var error: AppCoreError? { if case .failed(let error, _) = self { error } else { nil } }

    /// The message that the action sent; nil if it sent none.
    public var messageID: EventID? {
        switch self {
        case .published(let id, _), .delivered(let id, _): id
        case .failed(_, let id): id
        case .done, .partlyDone: nil
        }
    }
}

extension ErrorCode where Failure == AppCoreError {
    /// The process ended before the action did, and the action cannot continue.
    public static var interrupted: Self { Self("interrupted") }
    /// The outcome is unknown: the message left the outbox without an answer, or too many actions are pending.
    public static var outcomeUnknown: Self { Self("outcome_unknown") }
    /// No relay of the group accepted the message.
    public static var notPublished: Self { Self("not_published") }
}
