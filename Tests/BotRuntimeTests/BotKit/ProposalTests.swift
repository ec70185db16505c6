import BotKit
import Nostr
import Testing

@testable import PikaCore

/// A proposal of the member `b`.
func proposal(_ inboxID: Int64 = 8, id: Int = 7, change: ProposalEvent.Change = .departure) -> CoreEvent {
    coreEvent(
        inboxID,
        .proposal(
            ProposalEvent(id: eventID(id), sender: key("b"), change: change, epoch: 3, role: .member)))
}

struct ProposalTests {
    private func accepts(_ declaration: some HandlerDeclaration, _ event: CoreEvent) -> Bool {
        declaration.handler.accept(.event(event), scope()) != nil
    }

    @Test func filtersSelectProposals() {
        let any = OnProposal { _, _ in }
        let departures = OnProposal(.departure && .from(key("b"))) { _, _ in }
        let removal = proposal(change: .removal(key("c")))
        let addition = proposal(change: .addition(nil))
        #expect(accepts(any, proposal()) && accepts(any, removal) && accepts(any, proposal(change: .other)))
        #expect(accepts(departures, proposal()) && !accepts(departures, removal))
        #expect(accepts(OnProposal(.removal) { _, _ in }, removal))
        #expect(accepts(OnProposal(.addition) { _, _ in }, addition))
        #expect(!accepts(OnProposal(.removal) { _, _ in }, addition))
        #expect(!accepts(OnProposal(.addition) { _, _ in }, removal))
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
