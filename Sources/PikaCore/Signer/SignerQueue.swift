import MLS
import Nostr

/// Tasks waiting for the account's remote signer: sent in order, a few at a time, and retried while it is away.
struct SignerQueue: Sendable {
    /// The maximum number of requests in flight.
    static let window = 8
    /// The limits on gift wraps waiting for the signer; further ones are left on the relays, since anyone can send
    /// them.
    static let unopenedBudget = ParkingBudget(events: 1000, bytes: 16 << 20)
    /// Milliseconds before a signer that was away is asked again; doubled each time, up to the maximum.
    static let delay: Int64 = 1000
    static let maximumDelay: Int64 = 60_000
    /// Milliseconds before a refused gift wrap is retried: the signer gives the same answer for a wrap that cannot be
    /// opened as for one that its owner has not approved yet.
    static let unopenedDelays: [Int64] = [60_000, 600_000, 3_600_000]

    /// The queued tasks, by number.
    private var jobs: [Int: KeyJob] = [:]
    private var lastNumber = 0
    /// Consecutive times that the signer was away.
    private(set) var failures = 0
    /// Unix milliseconds before which the signer is not asked.
    private var awayUntil: Int64 = 0

    var isEmpty: Bool { self.jobs.isEmpty }
    var count: Int { self.jobs.count }

    subscript(number: Int) -> KeyJob? { self.jobs[number] }

    /// All jobs, oldest first.
    var inOrder: [KeyJob] { self.jobs.values.sorted { $0.number < $1.number } }

    func contains(_ task: KeyTask) -> Bool { self.jobs.values.contains { $0.task == task } }

    /// Whether an event with this purpose waits for its signature.
    func isSigning(_ purpose: OutboxRow.Purpose) -> Bool {
        self.jobs.values.contains { if case .publish(let due) = $0.task { due.purpose == purpose } else { false } }
    }

    /// The outbox rows of invitations that wait to be sealed, by the prefix of their ids.
    func rowsToSeal(withPrefix prefix: String) -> Set<String> {
        Set(
            self.jobs.values.compactMap {
                if case .seal(let due) = $0.task, due.row.hasPrefix(prefix) { due.row } else { nil }
            })
    }

    // MARK: Jobs

    /// Queues a task; if it is queued already, the request is attached to it. Returns whether it is new.
    mutating func enqueue(_ task: KeyTask, for request: RequestID?, _ step: inout CoreStep) -> Bool {
        if let number = self.jobs.first(where: { $0.value.task == task })?.key {
            if let request { self.jobs[number]?.requests.append(request) }
            return false
        }
        self.lastNumber += 1
        let job = KeyJob(number: self.lastNumber, task: task, requests: request.map { [$0] } ?? [])
        self.jobs[job.number] = job
        if task.isDurable { step.changes.append(.putMemo(Self.memoName(job.number), task.memo)) }
        return true
    }

    /// Returns the next job to ask the signer about, if another request may be in flight. This account's own tasks
    /// come before received events.
    func next(_ now: Int64) -> KeyJob? {
        guard now >= self.awayUntil else { return nil }
        // One request suffices to see whether the signer is back.
        let window = self.failures > 0 ? 1 : Self.window
        guard self.jobs.values.lazy.filter({ $0.inFlight != nil }).count < window else { return nil }
        return self.jobs.values.lazy.filter { $0.inFlight == nil && $0.notBefore <= now }
            .min { ($0.task.isForeign ? 1 : 0, $0.number) < ($1.task.isForeign ? 1 : 0, $1.number) }
    }

    /// Sends a job's operation to the signer.
    mutating func send(_ operation: KeyOperation, of job: KeyJob, _ step: inout CoreStep) {
        self.jobs[job.number]?.inFlight = operation
        step.effects.append(.useKey(job: job.number, operation))
    }

    /// Ends the request in flight of a job; nil if absent.
    mutating func endRequest(of number: Int) -> (job: KeyJob, operation: KeyOperation)? {
        guard let operation = self.jobs[number]?.inFlight else { return nil }
        self.jobs[number]?.inFlight = nil
        return self.jobs[number].map { ($0, operation) }
    }

    mutating func advance(_ job: KeyJob, to stage: KeyJob.Stage) { self.jobs[job.number]?.stage = stage }

    mutating func remove(_ job: KeyJob, _ step: inout CoreStep) {
        self.jobs[job.number] = nil
        if job.task.isDurable { step.changes.append(.putMemo(Self.memoName(job.number), nil)) }
    }

    // MARK: Back-off

    /// Records that the signer is away. Several requests that fail at once count as one failure.
    mutating func noteAway(_ step: inout CoreStep) {
        guard step.nowMilliseconds >= self.awayUntil else { return }
        let delay = min(Self.delay << Int64(min(self.failures, 10)), Self.maximumDelay)
        self.failures += 1
        self.awayUntil = step.nowMilliseconds + delay
        step.effects.append(.wake(.signer, atMilliseconds: self.awayUntil))
    }

    mutating func notePresent() {
        self.failures = 0
        self.awayUntil = 0
    }

    /// Postpones a gift wrap that the signer refused to open; false if it was refused too often, or is another task.
    mutating func postpone(_ job: KeyJob, after error: SignerError, _ step: inout CoreStep) -> Bool {
        guard case .open = job.task, error.code == .refused, job.refusals < Self.unopenedDelays.count else {
            return false
        }
        let time = step.nowMilliseconds + Self.unopenedDelays[job.refusals]
        self.jobs[job.number]?.refusals += 1
        self.jobs[job.number]?.notBefore = time
        step.effects.append(.wake(.signer, atMilliseconds: time))
        return true
    }

    // MARK: Room

    /// Whether another gift wrap may wait for the signer.
    enum Room {
        case free
        /// Once this one, refused before, is removed.
        case after(KeyJob)
        case none
    }

    func room(for wrap: Event) -> Room {
        var (count, bytes) = (0, wrap.parkedBytes)
        var oldestRefused: KeyJob?
        for job in self.jobs.values {
            guard case .open(let wrap) = job.task else { continue }
            count += 1
            bytes += wrap.parkedBytes
            if job.refusals > 0, job.number < oldestRefused?.number ?? .max { oldestRefused = job }
        }
        if count < Self.unopenedBudget.events, bytes <= Self.unopenedBudget.bytes { return .free }
        return oldestRefused.map { .after($0) } ?? .none
    }

    // MARK: Restarts

    private static func memoName(_ number: Int) -> MemoName {
        MemoName(.keyTask, withUnsafeBytes(of: Int64(number).bigEndian) { Array($0) })
    }

    /// Restores a task that was waiting when the process ended; false if the memo is unreadable.
    mutating func restore(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard key.count == 8, let task = KeyTask(memo: memo),
            let number = Int(exactly: key.reduce(Int64(0)) { $0 << 8 | Int64($1) }), number > 0
        else { return false }
        self.jobs[number] = KeyJob(number: number, task: task)
        self.lastNumber = max(self.lastNumber, number)
        return true
    }
}
