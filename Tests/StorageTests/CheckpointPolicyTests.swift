import Testing

@testable import Storage

@Suite struct CheckpointPolicyTests {
    private let start = ContinuousClock.now  // not live: an origin of computed instants

    @Test func fewCommitsWaitForQuietAndPause() {
        var policy = CheckpointPolicy(now: self.start)
        #expect(policy.beginWait(at: self.start) == nil)
        #expect(policy.noteCommit(at: self.start + .seconds(1)) == false)
        #expect(policy.beginWait(at: self.start + .seconds(1)) == .seconds(1))
        // A wait is in progress.
        #expect(policy.beginWait(at: self.start + .seconds(1)) == nil)
        #expect(policy.noteCommit(at: self.start + .milliseconds(1990)) == false)
        #expect(policy.endWait(at: self.start + .seconds(2)) == false)
        #expect(policy.beginWait(at: self.start + .seconds(2)) == .milliseconds(40))
        #expect(policy.endWait(at: self.start + .milliseconds(2040)) == true)
        policy.noteCheckpoint(at: self.start + .milliseconds(2050), isComplete: true)
        #expect(policy.beginWait(at: self.start + .seconds(9)) == nil)
    }

    @Test func storeAtRestIsCheckpointedOnceQuiet() {
        var policy = CheckpointPolicy(now: self.start)
        #expect(policy.noteCommit(at: self.start + .seconds(60)) == false)
        #expect(policy.beginWait(at: self.start + .seconds(60)) == CheckpointPolicy.quiet)
        #expect(policy.endWait(at: self.start + .seconds(60) + CheckpointPolicy.quiet) == true)
    }

    @Test func manyCommitsNeedNoPause() {
        var policy = CheckpointPolicy(now: self.start)
        for _ in 0..<CheckpointPolicy.run { #expect(policy.noteCommit(at: self.start) == false) }
        #expect(policy.beginWait(at: self.start) == CheckpointPolicy.quiet)
        let rest = CheckpointPolicy.largestRun - CheckpointPolicy.run
        let due = (0..<rest).map { _ in policy.noteCommit(at: self.start) }
        #expect(due == Array(repeating: false, count: rest - 1) + [true])
        policy.noteCheckpoint(at: self.start, isComplete: true)
        #expect(policy.endWait(at: self.start + CheckpointPolicy.quiet) == false)
    }

    @Test func incompleteCheckpointIsRepeated() {
        var policy = CheckpointPolicy(now: self.start)
        #expect(policy.noteCommit(at: self.start) == false)
        policy.noteCheckpoint(at: self.start, isComplete: false)
        #expect(policy.beginWait(at: self.start) == CheckpointPolicy.pause)
    }
}
