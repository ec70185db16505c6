import MLS
import Nostr
import Testing

@testable import PikaCore

/// Copies of the account's state.
@Suite struct InstanceTests {
    @Test func newCopyIsLaterThanBefore() {
        var (convergence, step) = (Convergence(StoredInstance(id: [1], generation: 9000)), CoreStep.at(5))
        convergence.becomeCopy(&step)
        #expect(convergence.instance.generation == 9001 && convergence.instance.id.count == 16)
        #expect(convergence.mayHaveCopies && step.changes.count == 1)
        #expect(!Convergence().mayHaveCopies)
    }

    @Test func yieldsToSuccessor() {
        var convergence = Convergence()
        #expect(convergence.successor == nil)
        let notice = CopyNotice(StoredInstance(id: [2], generation: 1), startedAt: 7)
        convergence.stop(for: notice)
        #expect(convergence.successor == notice)
    }
}
