/// When the write-ahead log is emptied into the database.
///
/// Until then it holds older versions of pages, deleted keys among them. So it happens after every commit of a store
/// that has little to do, and after a number of commits when there is much.
struct CheckpointPolicy {
    static let largestRun = 64
    static let pause: Duration = .seconds(2)

    private var commits = 0
    private var last: ContinuousClock.Instant

    init(now: ContinuousClock.Instant) { self.last = now }

    /// Notes a commit; whether the log is to be emptied after it.
    mutating func isDue(afterCommitAt now: ContinuousClock.Instant) -> Bool {
        self.commits += 1
        guard self.commits >= Self.largestRun || self.last.duration(to: now) >= Self.pause else { return false }
        self.commits = 0
        self.last = now
        return true
    }
}
