/// Handles proposals of other members: changes that no commit has carried out yet.
///
/// ```swift
/// OnProposal(.departure) { proposal, context in
///     context.send("\(proposal.sender.npub) wants to leave.")
/// }
/// ```
///
/// The event says who proposes what, and whom a removal or an addition is about. A departure becomes final with the
/// commit of another member, which ``OnMembership`` reports; the account commits others' departures by itself. A member
/// repeats its proposal in each epoch, so the handler may run several times for one departure.
public struct OnProposal: HandlerDeclaration {
    /// The handler for proposals.
    public let handler: Handler

    /// Creates a handler for the proposals that the filter selects, such as ``EventFilter/departure``.
    public init(
        _ filter: EventFilter<ProposalEvent> = .any,
        perform body: @escaping @Sendable (ProposalEvent, BotContext) async throws -> Void
    ) {
        handler = Handler(label: "proposal") { event, scope in
            guard case .proposal(let proposal) = event.content, filter.matches(proposal, in: scope) else { return nil }
            return { try await body(proposal, $0) }
        }
    }
}
