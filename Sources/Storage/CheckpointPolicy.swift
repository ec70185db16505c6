/// Decides when the write-ahead log is checkpointed into the database, and when the memory of a store at rest is freed.
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
    /// The time without a commit after which a store is at rest.
    static let rest: Duration = .seconds(10)

    enum Task {
        case checkpoint
        case freeing
    }

    private let freesMemory: Bool
    private var commits = 0
    private var lastCommit: Instant
    private var lastCheckpoint: Instant
    private var isFreed = true
    private var freesSoon = false
    private var isWaiting = false

    /// - Parameter freesMemory: whether memory is freed at rest: preparing statements again takes a millisecond.
    init(freesMemory: Bool, now: Instant) {
        self.freesMemory = freesMemory
        (self.lastCommit, self.lastCheckpoint) = (now, now)
    }

    /// Counts a commit; returns whether a checkpoint must follow at once.
    mutating func noteCommit(at now: Instant) -> Bool {
        self.commits += 1
        self.lastCommit = now
        self.isFreed = false
        return self.commits >= Self.largestRun
    }

    /// - Parameter isComplete: false if a reader still needs the log; then a later checkpoint follows.
    mutating func noteCheckpoint(at now: Instant, isComplete: Bool) {
        self.commits = isComplete ? 0 : 1
        self.lastCheckpoint = now
    }

    /// Has memory be freed after the next checkpoint: the store was started, and others that start may use it.
    mutating func freeSoon() { self.freesSoon = true }

    /// Begins to wait until the store is quiet. Returns the time to wait; nil if a wait is in progress, or there is nothing
    /// to do.
    mutating func beginWait(at now: Instant) -> Duration? {
        guard !self.isWaiting, let next = self.next else { return nil }
        self.isWaiting = true
        return max(.zero, now.duration(to: next.due))
    }

    /// Ends a wait; returns what is due. If nothing is, another wait begins.
    mutating func endWait(at now: Instant) -> Task? {
        self.isWaiting = false
        guard let next = self.next, next.due <= now else { return nil }
        if next.task == .freeing { (self.isFreed, self.freesSoon) = (true, false) }
        return next.task
    }

    /// The next task, and its time if the store is quiet until then.
    private var next: (task: Task, due: Instant)? {
        if self.commits > 0 {
            let quiet = self.lastCommit + Self.quiet
            return (.checkpoint, self.commits >= Self.run ? quiet : max(quiet, self.lastCheckpoint + Self.pause))
        }
        guard self.freesMemory, !self.isFreed else { return nil }
        return (.freeing, self.lastCommit + (self.freesSoon ? Self.quiet : Self.rest))
    }
}
