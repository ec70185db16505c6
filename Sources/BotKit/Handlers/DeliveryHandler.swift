/// What is known about the delivery of a message that a handler sent.
public struct MessageDelivery: Sendable, Hashable {
    /// The state of a delivery.
    public enum State: Sendable, Hashable {
        /// These relays have the message, others have not answered yet. Empty if the first answer was lost and the message
        /// came back.
        case published(relays: [RelayURL])
        /// All relays of the group have answered, and these have the message.
        case delivered(relays: [RelayURL])
        /// No relay has the message, or the group's history lost it.
        case failed(AppCoreError)
    }

    /// The id of the message, the same for every member.
    public let messageID: EventID
    /// The action that sent it.
    public let action: ActionID
    /// What became of it.
    public let state: State

    /// Nil for the outcome of an action without a message.
    init?(_ outcome: OutcomeEvent) {
        guard let id = outcome.result.messageID else { return nil }
        switch outcome.result {
        case .published(_, let relays): state = .published(relays: relays)
        case .delivered(_, let relays): state = .delivered(relays: relays)
        case .failed(let error, _): state = .failed(error)
        case .done, .partlyDone: return nil
        }
        messageID = id
        action = outcome.action
    }
}

/// Handles the delivery of the messages that this bot's handlers sent: texts, reactions, edits and media.
///
/// ```swift
/// OnDelivery { delivery, context in
///     if case .failed = delivery.state { context.send("The last answer did not arrive.") }
/// }
/// ```
///
/// Deliveries are the outcomes (``OnOutcome``) of actions that send a message, and arrive as they do. An action that
/// fails before its message exists has only an outcome.
public struct OnDelivery: HandlerDeclaration {
    /// The handler for deliveries.
    public let handler: Handler

    /// Creates a handler for deliveries.
    public init(perform body: @escaping @Sendable (MessageDelivery, BotContext) async throws -> Void) {
        var handler = Handler(label: "delivery") { event, _ in
            guard case .outcome(let outcome) = event.content, let delivery = MessageDelivery(outcome)
            else { return nil }
            return { try await body(delivery, $0) }
        }
        handler.handlesOutcomes = true
        self.handler = handler
    }
}
