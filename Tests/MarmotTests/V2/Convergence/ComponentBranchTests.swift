import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// Real groups as states of the selection.
struct ComponentBranchTests {
    private func expect(
        _ label: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        do {
            try body()
            Issue.record("expected a refusal: \(label)", sourceLocation: sourceLocation)
        } catch let refusal as BranchRefusal {
            let found =
                switch refusal {
                case .foreign: "foreign"
                case .invalid(let refusal): refusal.reason
                case .missingProposal: "missing proposal"
                case .own: "own"
                case .consumed: "consumed"
                }
            #expect(found == label, sourceLocation: sourceLocation)
        } catch {
            Issue.record("unexpected error \(error)", sourceLocation: sourceLocation)
        }
    }

    @Test func applyingChangesNothing() throws {
        var lab = try ComponentLab(3)
        let staged = try lab.stage(.profile(GroupProfileState(name: "B", description: "of members")), by: 0)
        let state = ComponentBranch(lab.groups[1])
        let step = try state.applying(staged.message, proposals: [])
        #expect(state.epoch == 1 && step.state.epoch == 2 && step.state.standing == .member)
        #expect(step.priority == .privileged && step.committer == lab.keys[0].publicKey)
        #expect(step.change.rows.map(\.change) == [.renamed(to: "B", from: "Lab")] && !step.change.changesRouting)
        let own = ComponentBranch.step(of: staged, from: ComponentBranch(lab.groups[0]))
        #expect(own.change == step.change && own.state.group.state == step.state.group.state)
    }

    @Test func removedStateReadsEarlierMessages() throws {
        var lab = try ComponentLab(3)
        let late = try lab.say("late", from: 0)
        let bytes = try lab.open(late.event, at: 2).bytes
        let staged = try lab.stage(.remove([lab.keys[2].publicKey]), by: 0)
        let step = try ComponentBranch(lab.groups[2]).applying(staged.message, proposals: [])
        #expect(step.state.standing == .removed && step.state.epoch == 2)
        #expect(step.change.removed == [lab.keys[2].publicKey])
        #expect(try step.state.author(of: bytes) == lab.keys[0].publicKey)
        let next = try ComponentBranch(lab.groups[1]).applying(staged.message, proposals: []).state
        #expect(next.standing == .member && next.epoch == 2)
        self.expect("foreign") { _ = try step.state.applying(staged.message, proposals: []) }
        let restored = try ComponentBranch(step.state.part, account: lab.keys[2].publicKey)
        #expect(restored.standing == .removed && restored.epoch == 2)
    }

    @Test func disbandingEndsAllStates() throws {
        var lab = try ComponentLab(2)
        let staged = try lab.stage(.disband, by: 0)
        let step = try ComponentBranch(lab.groups[1]).applying(staged.message, proposals: [])
        #expect(step.state.standing == .disbanded && step.state.epoch == 2)
        #expect(ComponentBranch.step(of: staged, from: ComponentBranch(lab.groups[0])).state.standing == .disbanded)
    }

    @Test func commitFindsItsProposals() throws {
        var lab = try ComponentLab(3)
        let departure = try lab.groups[2].leave(now: lab.now, using: &lab.rng)
        let proposal = try lab.open(departure.event, at: 0)
        _ = try lab.groups[0].admit(proposal)
        let staged = try lab.stage(.commitDepartures, by: 0)
        let state = ComponentBranch(lab.groups[1])
        self.expect("missing proposal") { _ = try state.applying(staged.message, proposals: []) }
        let step = try state.applying(staged.message, proposals: [ConvergenceInput(proposal)])
        #expect(step.proposals == [proposal.digest] && step.priority == .ordinary)
        #expect(try state.judging(proposal.bytes).reference == state.group.mls.statedReference(of: proposal.message))
        let commit = try MLSMessage(staged.message)
        #expect(state.group.mls.statedReference(of: commit) == nil)
        #expect(state.statedProposer(of: proposal.bytes) == lab.keys[2].publicKey)
        #expect(state.statedProposer(of: [1]) == nil)
        #expect(try state.judging(proposal.bytes).isDeparture)
        #expect(state.group.mls.pendingProposals.isEmpty)
        let own = ComponentBranch.step(of: staged, from: ComponentBranch(lab.groups[0]))
        #expect(own.proposals == step.proposals)
    }

    @Test func tellsRefusalsApart() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        let state = ComponentBranch(lab.groups[2])
        let ours = try lab.stage(.profile(GroupProfileState(name: "A")), by: 0)
        let theirs = try lab.stage(.profile(GroupProfileState(name: "B")), by: 1)
        let other = try state.applying(theirs.message, proposals: []).state
        lab.groups[0] = ours.next
        let second = try lab.stage(.selfUpdate(nil), by: 0)
        self.expect("foreign") { _ = try other.applying(second.message, proposals: []) }
        self.expect("foreign") { _ = try state.applying(second.message, proposals: []) }
        let forged = try lab.forge(by: 2) { $0.appDataUpdates = [.setting(.profile, [0, 0])] }
        let before = ComponentBranch(lab.groups[1])
        self.expect("not_admin") { _ = try before.applying(forged.bytes, proposals: []) }
        self.expect("own") { _ = try state.applying(forged.bytes, proposals: []) }
    }

    @Test func authorsAreReadBeforeKeysAreUsed() throws {
        var lab = try ComponentLab(2)
        let sealed = try lab.say("hello", from: 0)
        let bytes = try lab.open(sealed.event, at: 1).bytes
        var state = ComponentBranch(lab.groups[1])
        let kept = state
        #expect(try state.author(of: bytes) == lab.keys[0].publicKey)
        let opened = try state.open(bytes)
        #expect(opened.author == lab.keys[0].publicKey && opened.message.digest == sealed.digest)
        self.expect("consumed") { _ = try state.author(of: bytes) }
        self.expect("consumed") { _ = try kept.withoutKeys(usedBy: state).author(of: bytes) }
        #expect(try kept.author(of: bytes) == lab.keys[0].publicKey)
    }

    @Test func messagesOfCopiesUseTheirKeys() throws {
        var lab = try ComponentLab(2)
        var copy = ComponentBranch(lab.groups[0])
        let sealed = try lab.say("hello", from: 0)
        let bytes = try lab.open(sealed.event, at: 1).bytes
        // The sender itself has used the key, so a repetition proves nothing.
        var sender = ComponentBranch(lab.groups[0])
        self.expect("consumed") { _ = try sender.author(of: bytes) }
        self.expect("consumed") { _ = try sender.open(bytes) }
        self.expect("own") { _ = try copy.author(of: bytes) }
        self.expect("own") { _ = try copy.open(bytes) }
        self.expect("consumed") { _ = try copy.author(of: bytes) }
        lab.groups[0] = copy.group
        let again = try lab.say("again", from: 0)
        let next = try lab.open(again.event, at: 1)
        #expect(lab.groups[1].mls.place(of: next.message)?.generation == 1)
    }

    @Test func copiesAreRecognisedOnce() throws {
        var lab = try ComponentLab(2)
        let start = try #require(Bytes32([UInt8](repeating: 0, count: 32)))
        var machine = GroupConvergence(ComponentBranch(lab.groups[0]), id: start)
        let sealed = try lab.say("elsewhere", from: 0)
        let input = ConvergenceInput(try lab.open(sealed.event, at: 1))
        var sender = GroupConvergence(ComponentBranch(lab.groups[0]), id: start)
        func disposition(_ effects: [ConvergenceEffect<ComponentBranch>]) -> InputDisposition? {
            guard case .disposed(_, let disposition)? = effects.last else { return nil }
            return disposition
        }
        let first = machine.receive(input, now: 0)
        let second = machine.receive(input, now: 1)
        #expect(disposition(first) == .invalidated(.otherCopy) && disposition(second) == .duplicate)
        // A state that sent the message itself, without a record of it, does not report a copy.
        let echo = sender.receive(input, now: 0)
        #expect(disposition(echo) == .duplicate)
    }

    @Test func selectionFollowsRealGroup() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        let start = try #require(Bytes32([UInt8](repeating: 0, count: 32)))
        var machine = GroupConvergence(ComponentBranch(lab.groups[2]), id: start)
        let ours = try lab.stage(.profile(GroupProfileState(name: "A")), by: 0)
        let theirs = try lab.stage(.profile(GroupProfileState(name: "B")), by: 1)
        _ = machine.receive(ConvergenceInput(try lab.message(ours.message)), now: 0)
        _ = machine.receive(ConvergenceInput(try lab.message(theirs.message)), now: 10)
        _ = machine.advance(now: 5000)
        let winner = [ours, theirs].min { $0.judged.committer < $1.judged.committer }
        #expect(machine.tip.group.state == winner?.next.state && machine.tip.epoch == 2)
        #expect(machine.tip.group.mls.epochAuthenticator == winner?.next.mls.epochAuthenticator)
    }
}
