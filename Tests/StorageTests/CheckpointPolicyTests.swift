import Testing

@testable import Storage

@Suite struct CheckpointPolicyTests {
    private let start = ContinuousClock.now  // not live: an origin of computed instants

    @Test func fewCommitsWaitForQuietAndPause() {
        var policy = CheckpointPolicy(freesMemory: false, now: self.start)
        #expect(policy.beginWait(at: self.start) == nil)
        #expect(policy.noteCommit(at: self.start + .seconds(1)) == false)
        #expect(policy.beginWait(at: self.start + .seconds(1)) == .seconds(1))
        // A wait is in progress.
        #expect(policy.beginWait(at: self.start + .seconds(1)) == nil)
        #expect(policy.noteCommit(at: self.start + .milliseconds(1990)) == false)
        #expect(policy.endWait(at: self.start + .seconds(2)) == nil)
        #expect(policy.beginWait(at: self.start + .seconds(2)) == .milliseconds(40))
        #expect(policy.endWait(at: self.start + .milliseconds(2040)) == .checkpoint)
        policy.noteCheckpoint(at: self.start + .milliseconds(2050), isComplete: true)
        #expect(policy.beginWait(at: self.start + .seconds(9)) == nil)
    }

    @Test func storeAtRestIsCheckpointedOnceQuiet() {
        var policy = CheckpointPolicy(freesMemory: false, now: self.start)
        #expect(policy.noteCommit(at: self.start + .seconds(60)) == false)
        #expect(policy.beginWait(at: self.start + .seconds(60)) == CheckpointPolicy.quiet)
        #expect(policy.endWait(at: self.start + .seconds(60) + CheckpointPolicy.quiet) == .checkpoint)
    }

    @Test func manyCommitsNeedNoPause() {
        var policy = CheckpointPolicy(freesMemory: false, now: self.start)
        for _ in 0..<CheckpointPolicy.run { #expect(policy.noteCommit(at: self.start) == false) }
        #expect(policy.beginWait(at: self.start) == CheckpointPolicy.quiet)
        let rest = CheckpointPolicy.largestRun - CheckpointPolicy.run
        let due = (0..<rest).map { _ in policy.noteCommit(at: self.start) }
        #expect(due == Array(repeating: false, count: rest - 1) + [true])
        policy.noteCheckpoint(at: self.start, isComplete: true)
        #expect(policy.endWait(at: self.start + CheckpointPolicy.quiet) == nil)
    }

    @Test func incompleteCheckpointIsRepeated() {
        var policy = CheckpointPolicy(freesMemory: false, now: self.start)
        #expect(policy.noteCommit(at: self.start) == false)
        policy.noteCheckpoint(at: self.start, isComplete: false)
        #expect(policy.beginWait(at: self.start) == CheckpointPolicy.pause)
    }

    @Test func storeAtRestFreesMemoryOnce() {
        var policy = CheckpointPolicy(freesMemory: true, now: self.start)
        #expect(policy.beginWait(at: self.start) == nil)
        #expect(policy.noteCommit(at: self.start + .seconds(5)) == false)
        #expect(policy.beginWait(at: self.start + .seconds(5)) == CheckpointPolicy.quiet)
        #expect(policy.endWait(at: self.start + .seconds(6)) == .checkpoint)
        policy.noteCheckpoint(at: self.start + .seconds(6), isComplete: true)
        #expect(policy.beginWait(at: self.start + .seconds(6)) == .seconds(9))
        #expect(policy.endWait(at: self.start + .seconds(15)) == .freeing)
        #expect(policy.beginWait(at: self.start + .seconds(15)) == nil)
        #expect(policy.noteCommit(at: self.start + .seconds(20)) == false)
        #expect(policy.beginWait(at: self.start + .seconds(20)) == CheckpointPolicy.quiet)
        policy.freeSoon()
        #expect(policy.endWait(at: self.start + .seconds(21)) == .checkpoint)
        policy.noteCheckpoint(at: self.start + .seconds(21), isComplete: true)
        #expect(policy.beginWait(at: self.start + .seconds(21)) == .zero)
        #expect(policy.endWait(at: self.start + .seconds(21)) == .freeing)
    }
}
