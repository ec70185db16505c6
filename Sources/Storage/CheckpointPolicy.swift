/// Decides when the write-ahead log is checkpointed into the database.
///
/// Until then the log holds older versions of pages, including deleted keys. A checkpoint takes longer than a commit, and
/// the commits that come meanwhile wait for it. So it follows once the store is quiet: an event and its answer are
/// several commits, and the first of them must not delay the others. A store that is never quiet is checkpointed every
/// ``largestRun`` commits.
struct CheckpointPolicy {
    typealias Instant = ContinuousClock.Instant

    static let quiet: Duration = .milliseconds(50)
    /// The least time between two checkpoints of few commits.
    static let pause: Duration = .seconds(2)
    /// The number of commits that are checkpointed without a pause.
    static let run = 64
    static let largestRun = 256

    private var commits = 0
    private var lastCommit: Instant
    private var lastCheckpoint: Instant
    private var isWaiting = false

    init(now: Instant) { (self.lastCommit, self.lastCheckpoint) = (now, now) }

    /// Counts a commit; returns whether a checkpoint must follow at once.
    mutating func noteCommit(at now: Instant) -> Bool {
        self.commits += 1
        self.lastCommit = now
        return self.commits >= Self.largestRun
    }

    /// - Parameter isComplete: false if a reader still needs the log; then a later checkpoint follows.
    mutating func noteCheckpoint(at now: Instant, isComplete: Bool) {
        self.commits = isComplete ? 0 : 1
        self.lastCheckpoint = now
    }

    /// Begins to wait until the store is quiet. Returns the time to wait; nil if a wait is in progress, or there is nothing
    /// to checkpoint.
    mutating func beginWait(at now: Instant) -> Duration? {
        guard self.commits > 0, !self.isWaiting else { return nil }
        self.isWaiting = true
        return max(.zero, now.duration(to: self.due))
    }

    /// Ends a wait; returns whether a checkpoint is due. If not, another wait begins.
    mutating func endWait(at now: Instant) -> Bool {
        self.isWaiting = false
        return self.commits > 0 && now >= self.due
    }

    /// The time of the next checkpoint if the store is quiet until then.
    private var due: Instant {
        let quiet = self.lastCommit + Self.quiet
        return self.commits >= Self.run ? quiet : max(quiet, self.lastCheckpoint + Self.pause)
    }
}
