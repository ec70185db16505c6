import MLS
import Nostr

/// Requests to a remote signer (``SignerQueue``).
extension CoreModel {
    /// Queues a task for the signer; if it is queued already, the request is attached to it.
    mutating func ask(_ task: KeyTask, for request: RequestID?, _ step: inout CoreStep) {
        if self.signer.enqueue(task, for: request, &step) { self.askSigner(&step) }
    }

    /// Sends as many requests as may be in flight.
    mutating func askSigner(_ step: inout CoreStep) {
        guard case .remote = self.account else { return }
        while let job = self.signer.next(step.nowMilliseconds) {
            do {
                guard let operation = try self.operation(of: job, &step) else {
                    self.end(job, &step)
                    for request in job.requests { self.finish(request, .done(chatID: nil), &step) }
                    continue
                }
                self.signer.send(operation, of: job, &step)
            } catch {
                self.end(job, &step)
                self.fail(job, error, &step)
            }
        }
    }

    /// Processes the signer's answer, or its absence.
    mutating func receiveKeyUse(
        _ number: Int, _ result: Result<KeyAnswer, SignerError>, _ step: inout CoreStep
    ) {
        guard let (job, operation) = self.signer.endRequest(of: number) else { return }
        switch result {
        // A signer with another key counts as away: tasks wait for the right one.
        case .failure(let error) where error.code == .away || error.code == .wrongAccount:
            self.set(.away(reason: error.message), &step)
            self.signer.noteAway(&step)
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
            self.advance(job, answer, &step)
        }
        self.askSigner(&step)
    }

    private mutating func advance(_ job: KeyJob, _ answer: KeyAnswer, _ step: inout CoreStep) {
        do {
            if let next = try self.applyAnswer(answer, of: job, &step) { return self.signer.advance(job, to: next) }
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

    private mutating func refuse(_ job: KeyJob, _ error: SignerError, _ step: inout CoreStep) {
        // Strangers' events say nothing about the signer's status.
        self.noteAnswer(job.task.isForeign ? .ready : .refused(reason: error.message), &step)
        if self.signer.postpone(job, after: error, &step) { return }
        self.end(job, &step)
        self.fail(job, error, &step)
    }

    private mutating func noteAnswer(_ status: AppState.SignerStatus, _ step: inout CoreStep) {
        self.signer.notePresent()
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
        self.signer.remove(job, &step)
        if case .open(let event) = job.task {
            self.rememberRefused(event.id, &step)
            self.recountGaps(&step)
        }
        if case .publish = job.task { self.endOwnWriting(&step) }
    }

    /// Resumes the tasks of the last process; the key may have become local since.
    mutating func resumeKeyTasks(_ step: inout CoreStep) {
        switch self.account {
        case .remote: self.askSigner(&step)
        case .local:
            for job in self.signer.inOrder {
                self.end(job, &step)
                self.performKeyTask(job.task, &step)
            }
        }
    }
}
