/// Decides when the write-ahead log is checkpointed into the database.
///
/// Until then the log holds older versions of pages, including deleted keys. Therefore a checkpoint follows every
/// commit of an idle store, and every ``largestRun`` commits of a busy one.
struct CheckpointPolicy {
    static let largestRun = 64
    static let pause: Duration = .seconds(2)

    private var commits = 0
    private var last: ContinuousClock.Instant

    init(now: ContinuousClock.Instant) { self.last = now }

    /// Counts a commit; returns whether a checkpoint is due after it.
    mutating func isDue(afterCommitAt now: ContinuousClock.Instant) -> Bool {
        self.commits += 1
        guard self.commits >= Self.largestRun || self.last.duration(to: now) >= Self.pause else { return false }
        self.commits = 0
        self.last = now
        return true
    }
}
