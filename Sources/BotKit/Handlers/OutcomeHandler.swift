/// Handles the outcomes of actions that this bot's handlers requested.
///
/// ```swift
/// OnCommand("invite") { command, context in
///     let id = context.addMembers(peers, missing: .proceedWithout)
///     context.setText(context.chatID.rawValue, forKey: "invite/\(id)")
/// }
/// OnOutcome(.action("add_group_members")) { outcome, context in
///     guard case .partlyDone(let left) = outcome.result else { return }
///     context.send("\(left.count) could not be invited")
/// }
/// ```
///
/// Every request of ``BotContext`` returns an `ActionID`. Its outcome arrives like any other event: once, after a restart
/// too, and with the same transaction as other triggers. A message is `published` when a
/// first relay has it, and `delivered` when all relays of its group have answered.
/// An action on a call ends as its signal does: `published` is final there, because a signal is not sent to other relays.
/// Founding a group reports the new chat's id as the event's chat. An outcome of an action without a chat has no chat
/// either, so a message needs `to:` there.
///
/// The outcomes of a bot without such a handler are only counted (`bot_actions_total`), and failures are explained by
/// `pikabot why` with the id of the event that the handler ran for. A bot's policy does not apply to outcomes, except that
/// a paused bot receives none. Actions that are requested while handling an outcome are not reported in turn.
public struct OnOutcome: HandlerDeclaration {
    /// The handler for outcomes.
    public let handler: Handler

    /// Creates a handler for the outcomes that the filter selects.
    public init(
        _ filter: OutcomeFilter = .any,
        perform body: @escaping @Sendable (OutcomeEvent, BotContext) async throws -> Void
    ) {
        var handler = Handler(label: "outcome") { event, scope in
            guard case .outcome(let outcome) = event.content, filter.matches(outcome) else { return nil }
            return { try await body(outcome, $0) }
        }
        handler.handlesOutcomes = true
        self.handler = handler
    }
}
