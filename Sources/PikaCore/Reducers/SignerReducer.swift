import MLS
import Nostr

/// Requests to a remote signer: sent in order, a few at a time, and retried while it is away.
extension CoreModel {
    /// The maximum number of requests in flight.
    static let signerWindow = 8
    /// The limits on gift wraps waiting for the signer; further ones are left on the relays, since anyone can send
    /// them.
    static let unopenedBudget = ParkingBudget(events: 1000, bytes: 16 << 20)
    /// Milliseconds before a signer that was away is asked again; doubled each time, up to the maximum.
    static let signerDelay: Int64 = 1000
    static let maximumSignerDelay: Int64 = 60_000
    /// Milliseconds before a refused gift wrap is retried: the signer gives the same answer for a wrap that cannot be
    /// opened as for one that its owner has not approved yet.
    static let unopenedDelays: [Int64] = [60_000, 600_000, 3_600_000]

    /// The back-off of requests to the signer.
    struct SignerPatience: Sendable {
        /// Consecutive failures.
        var failures = 0
        /// Unix milliseconds before which it is not asked.
        var awayUntil: Int64 = 0
    }

    /// Queues a task for the signer; if it is queued already, the request is attached to it.
    mutating func ask(_ task: KeyTask, for request: RequestID?, _ step: inout CoreStep) {
        if let number = self.keyJobs.first(where: { $0.value.task == task })?.key {
            if let request { self.keyJobs[number]?.requests.append(request) }
            return
        }
        self.lastKeyJob += 1
        let job = KeyJob(number: self.lastKeyJob, task: task, requests: request.map { [$0] } ?? [])
        self.keyJobs[job.number] = job
        if task.isDurable { step.changes.append(.putMemo(Self.memoName(job.number), task.memo)) }
        self.askSigner(&step)
    }

    /// Whether a task waits for the signer.
    func isWaiting(for task: KeyTask) -> Bool { self.keyJobs.values.contains { $0.task == task } }

    /// Sends as many requests as may be in flight; this account's own tasks come before received events.
    mutating func askSigner(_ step: inout CoreStep) {
        guard case .remote = self.account else { return }
        while let job = self.nextKeyJob(step.nowMilliseconds) {
            do {
                guard let operation = try self.operation(of: job, &step) else {
                    self.end(job, &step)
                    for request in job.requests { self.finish(request, .done(chatID: nil), &step) }
                    continue
                }
                self.keyJobs[job.number]?.inFlight = operation
                step.effects.append(.useKey(job: job.number, operation))
            } catch {
                self.end(job, &step)
                self.fail(job, error, &step)
            }
        }
    }

    private func nextKeyJob(_ now: Int64) -> KeyJob? {
        guard now >= self.signerPatience.awayUntil else { return nil }
        // One request suffices to see whether the signer is back.
        let window = self.signerPatience.failures > 0 ? 1 : Self.signerWindow
        guard self.keyJobs.values.lazy.filter({ $0.inFlight != nil }).count < window else { return nil }
        return self.keyJobs.values.lazy.filter { $0.inFlight == nil && $0.notBefore <= now }
            .min { ($0.task.isForeign ? 1 : 0, $0.number) < ($1.task.isForeign ? 1 : 0, $1.number) }
    }

    /// Processes the signer's answer, or its absence.
    mutating func takeKeyUse(
        _ number: Int, _ result: Result<KeyAnswer, SignerError>, _ step: inout CoreStep
    ) {
        guard var job = self.keyJobs[number], let operation = job.inFlight else { return }
        job.inFlight = nil
        self.keyJobs[number] = job
        switch result {
        // A signer with another key counts as away: tasks wait for the right one.
        case .failure(let error) where error.code == .away || error.code == .wrongAccount:
            self.noteAway(error, &step)
        case .failure(let error): self.refuse(job, error, &step)
        case .success(let answer):
            let crashes = self.crashes
            let outer = job.task.crashSubject.map { crashes.enter($0, of: .giftWraps, .ingest) }
            defer { if let outer { crashes.leave(outer) } }
            do throws(SignerError) { try operation.requireAnswer(answer) } catch {
                self.refuse(job, error, &step)
                break
            }
            self.noteAnswer(.ready, &step)
            self.goOn(job, answer, &step)
        }
        self.askSigner(&step)
    }

    private mutating func goOn(_ job: KeyJob, _ answer: KeyAnswer, _ step: inout CoreStep) {
        do {
            if let next = try self.take(answer, of: job, &step) {
                self.keyJobs[job.number]?.stage = next
                return
            }
            self.end(job, &step)
            for request in job.requests { self.finish(request, .done(chatID: nil), &step) }
            try self.renewOutdated(job.task, &step)
        } catch {
            self.end(job, &step)
            self.fail(job, error, &step)
        }
    }

    /// Repeats a task if other relays were configured while the signer was working on it.
    private mutating func renewOutdated(_ task: KeyTask, _ step: inout CoreStep) throws {
        switch task {
        case .announce(let reference): try self.announceAgain(reference, &step)
        case .relayList(let kind): self.publishRelayList(kind, &step)
        default: break
        }
    }

    private mutating func noteAway(_ error: SignerError, _ step: inout CoreStep) {
        self.set(.away(reason: error.message), &step)
        // Several requests that fail at once count as one failure.
        guard step.nowMilliseconds >= self.signerPatience.awayUntil else { return }
        let delay = min(
            Self.signerDelay << Int64(min(self.signerPatience.failures, 10)), Self.maximumSignerDelay)
        self.signerPatience.failures += 1
        self.signerPatience.awayUntil = step.nowMilliseconds + delay
        step.effects.append(.wake(.signer, atMilliseconds: self.signerPatience.awayUntil))
    }

    private mutating func refuse(_ job: KeyJob, _ error: SignerError, _ step: inout CoreStep) {
        // Strangers' events say nothing about the signer's status.
        self.noteAnswer(job.task.isForeign ? .ready : .refused(reason: error.message), &step)
        if case .open = job.task, error.code == .refused, job.refusals < Self.unopenedDelays.count {
            let time = step.nowMilliseconds + Self.unopenedDelays[job.refusals]
            self.keyJobs[job.number]?.refusals += 1
            self.keyJobs[job.number]?.notBefore = time
            step.effects.append(.wake(.signer, atMilliseconds: time))
            return
        }
        self.end(job, &step)
        self.fail(job, error, &step)
    }

    private mutating func noteAnswer(_ status: AppState.SignerStatus, _ step: inout CoreStep) {
        self.signerPatience = SignerPatience()
        self.set(status, &step)
    }

    private mutating func set(_ status: AppState.SignerStatus, _ step: inout CoreStep) {
        guard self.state.signer != status else { return }
        self.state.signer = status
        step.effects.append(.note(.signer(status)))
    }

    /// Records that the user has to approve a request to the signer.
    mutating func noteChallenge(_ url: String, _ step: inout CoreStep) {
        guard case .remote = self.account else { return }
        self.set(.needsApproval(url: url), &step)
    }

    /// Removes a task, regardless of its outcome.
    mutating func end(_ job: KeyJob, _ step: inout CoreStep) {
        self.keyJobs[job.number] = nil
        if job.task.isDurable { step.changes.append(.putMemo(Self.memoName(job.number), nil)) }
        if case .open(let event) = job.task {
            self.rememberRefused(event.id, &step)
            self.settleGaps(&step)
        }
        if case .publish = job.task { self.endOwnWriting(&step) }
    }

    // MARK: Restarts

    private static func memoName(_ number: Int) -> MemoName {
        MemoName(.keyTask, withUnsafeBytes(of: Int64(number).bigEndian) { Array($0) })
    }

    /// Restores a task that was waiting when the process ended; false if the memo is unreadable.
    mutating func restoreKeyTask(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard key.count == 8, let task = KeyTask(memo: memo),
            let number = Int(exactly: key.reduce(Int64(0)) { $0 << 8 | Int64($1) }), number > 0
        else { return false }
        self.keyJobs[number] = KeyJob(number: number, task: task)
        self.lastKeyJob = max(self.lastKeyJob, number)
        return true
    }

    /// Resumes the tasks of the last process; the key may have become local since.
    mutating func resumeKeyTasks(_ step: inout CoreStep) {
        switch self.account {
        case .remote: self.askSigner(&step)
        case .local:
            for job in self.keyJobs.values.sorted(by: { $0.number < $1.number }) {
                self.end(job, &step)
                self.use(job.task, &step)
            }
        }
    }
}
