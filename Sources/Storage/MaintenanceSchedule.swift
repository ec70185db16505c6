/// Schedules the maintenance of a store: checkpoints of its write-ahead log, and freeing its memory.
///
/// Until a checkpoint the log holds older versions of pages, including deleted keys. Commits wait for a running
/// checkpoint, and an event and its answer are several commits. Therefore a store is checkpointed when it is quiet, and
/// after ``largestRun`` commits if it never is.
struct MaintenanceSchedule {
    typealias Instant = ContinuousClock.Instant

    enum Work {
        case checkpoint
        case freeMemory
    }

    /// Time without a commit after which a store is quiet.
    static let quiet: Duration = .milliseconds(50)
    /// Minimum time between two checkpoints, unless ``run`` commits came after the first.
    static let pause: Duration = .seconds(2)
    /// Number of commits that are checkpointed without a pause.
    static let run = 64
    /// Number of commits that are checkpointed even if the store is not quiet.
    static let largestRun = 256
    /// Time without a commit after which a store frees its memory.
    static let rest: Duration = .seconds(10)

    private let freesMemory: Bool
    private var lastCommit: Instant
    private var lastCheckpoint: Instant
    /// Commits since the last checkpoint.
    private var commits = 0
    private var isFreed = true
    private var freesSoon = false
    private var isWaiting = false

    /// - Parameter freesMemory: whether a store at rest frees its memory. The next commit is then a millisecond slower,
    ///   because it prepares its statements again.
    init(freesMemory: Bool, now: Instant) {
        self.freesMemory = freesMemory
        (self.lastCommit, self.lastCheckpoint) = (now, now)
    }

    /// Counts a commit. Returns whether a checkpoint must follow at once.
    mutating func noteCommit(at now: Instant) -> Bool {
        self.commits += 1
        self.lastCommit = now
        self.isFreed = false
        return self.commits >= Self.largestRun
    }

    /// - Parameter isComplete: false if a reader still needs the log; then another checkpoint follows.
    mutating func noteCheckpoint(at now: Instant, isComplete: Bool) {
        self.commits = isComplete ? 0 : 1
        self.lastCheckpoint = now
    }

    /// Frees the memory once, directly after the next checkpoint.
    mutating func freeSoon() { self.freesSoon = true }

    /// Begins to wait for the next work. Returns the time to wait; nil if a wait is in progress or no work is left.
    mutating func beginWait(at now: Instant) -> Duration? {
        guard !self.isWaiting, let next = self.next else { return nil }
        self.isWaiting = true
        return max(.zero, now.duration(to: next.due))
    }

    /// Ends a wait. Returns the work that is due; nil if commits have postponed it.
    mutating func endWait(at now: Instant) -> Work? {
        self.isWaiting = false
        guard let next = self.next, next.due <= now else { return nil }
        if next.work == .freeMemory { (self.isFreed, self.freesSoon) = (true, false) }
        return next.work
    }

    /// The next work, and its time if no commit comes before it.
    private var next: (work: Work, due: Instant)? {
        if self.commits > 0 {
            let quiet = self.lastCommit + Self.quiet
            return (.checkpoint, self.commits >= Self.run ? quiet : max(quiet, self.lastCheckpoint + Self.pause))
        }
        guard self.freesMemory, !self.isFreed else { return nil }
        return (.freeMemory, self.lastCommit + (self.freesSoon ? Self.quiet : Self.rest))
    }
}
