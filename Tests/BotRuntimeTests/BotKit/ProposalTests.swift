import BotKit
import Nostr
import Testing

@testable import PikaCore

/// A proposal of the member `b`.
func proposal(_ inboxID: Int64 = 8, id: Int = 7, isDeparture: Bool = true) -> CoreEvent {
    coreEvent(
        inboxID,
        .proposal(
            ProposalEvent(id: eventID(id), sender: key("b"), isDeparture: isDeparture, epoch: 3, role: .member)))
}

struct ProposalTests {
    private func accepts(_ declaration: some HandlerDeclaration, _ event: CoreEvent) -> Bool {
        declaration.handler.accept(.event(event), scope()) != nil
    }

    @Test func filtersSelectProposals() {
        let any = OnProposal { _, _ in }
        let departures = OnProposal(.departure && .from(key("b"))) { _, _ in }
        #expect(accepts(any, proposal()) && accepts(any, proposal(isDeparture: false)))
        #expect(accepts(departures, proposal()) && !accepts(departures, proposal(isDeparture: false)))
        #expect(!accepts(OnProposal(.fromAdmin) { _, _ in }, proposal()))
    }

    @Test func otherHandlersIgnoreProposals() {
        #expect(!accepts(OnCommit { _, _ in }, proposal()))
        #expect(!accepts(OnMembership { _, _ in }, proposal()))
        #expect(!accepts(OnProposal { _, _ in }, coreEvent(1, .commit(commitEvent()))))
    }

    @Test func proposalIsNamedByItsEvent() {
        #expect(proposal(1).inputID == eventID(7).hex)
        #expect(proposal(1).inputID == proposal(2).inputID)
    }
}
