import MLS
import Marmot
import Nostr

/// All uses of the account's key, in one place.
///
/// A task consists of one or two operations with the key in sequence: with a local key all within the same turn, with a
/// remote signer (``SignerReducer.swift``) as its answers arrive.
extension CoreModel {
    /// Performs or queues a task. ``fail(_:_:_:)`` handles errors, including later ones.
    mutating func performKeyTask(_ task: KeyTask, _ step: inout CoreStep) {
        do { try self.tryKeyTask(task, &step) } catch { self.fail(KeyJob(number: 0, task: task), error, &step) }
    }

    /// As ``performKeyTask(_:_:)``, but throws immediate errors.
    mutating func tryKeyTask(_ task: KeyTask, for request: RequestID? = nil, _ step: inout CoreStep) throws {
        switch self.account {
        case .remote: self.ask(task, for: request, &step)
        case .local(let keys):
            var job = KeyJob(number: 0, task: task)
            while let operation = try self.operation(of: job, &step) {
                let answer = try operation.perform(with: keys, &step.random)
                guard let next = try self.applyAnswer(answer, of: job, &step) else { return }
                job.stage = next
            }
        }
    }

    // MARK: Operations

    /// Returns the next operation of a task; nil if nothing is left to do. Events are drafted when the signature is
    /// requested, so that their dates do not depend on how long the signer was away.
    mutating func operation(of job: KeyJob, _ step: inout CoreStep) throws -> KeyOperation? {
        switch (job.task, job.stage) {
        case (.open, .opened(let seal)): return .decrypt(seal.content, from: seal.pubkey)
        case (.open(let event), _):
            try GiftWrap.require(.giftWrap, event)
            try GiftWrap.require(event, addressedTo: self.account.publicKey)
            return .decrypt(event.content, from: event.pubkey)
        case (.seal, .encrypted(let content)):
            return .sign(
                [GiftWrap.seal(content, by: self.account.publicKey, now: step.now, using: &step.random)])
        case (.seal(let due), _): return .encrypt(due.rumor.rumorJSON(), to: due.recipient)
        case (.announce(let reference), _):
            return try self.keyPackages.drafts(
                of: reference, self.configuration, by: self.account.publicKey, now: step.now
            ).map(KeyOperation.sign)
        case (.proveDevice, _):
            return try self.keyPackages.device.template(
                for: self.account.publicKey, now: step.now, using: &step.random
            ).map { KeyOperation.sign([$0]) }
        case (.relayList(let kind), _): return .sign([self.relayListDraft(kind, step)])
        case (.delete(let ids, _), _):
            return .sign([KeyPackageEvents.deletionDraft(of: ids, by: self.account.publicKey, now: step.now)])
        case (.publish(let due), _): return .sign([due.draft])
        case (.readNotice(let event, _), _):
            guard CopyNotice.isNotice(event, of: self.account.publicKey) else { throw CopyNotice.malformed }
            return .decrypt(event.content, from: self.account.publicKey)
        case (.publishNotice(_, let time), .encrypted(let content)):
            return .sign([CopyNotice.draft(content, by: self.account.publicKey, createdAt: time)])
        case (.publishNotice, _):
            guard let startedAt = self.convergence.fence.startedAt else { return nil }
            return .encrypt(
                CopyNotice(self.convergence.instance, startedAt: startedAt).content, to: self.account.publicKey)
        case (.authorize(let operation), _): return self.authorizations(of: operation, step).map(KeyOperation.sign)
        }
    }

    // MARK: Results

    /// Continues a task with an answer; returns its next stage, or nil when it is done.
    mutating func applyAnswer(_ answer: KeyAnswer, of job: KeyJob, _ step: inout CoreStep) throws -> KeyJob.Stage? {
        switch (job.task, answer) {
        case (.open(let event), .decrypted(let plaintext)):
            guard case .opened(let seal) = job.stage else { return .opened(seal: try GiftWrap.seal(in: plaintext)) }
            try self.receiveRumor(try GiftWrap.rumor(in: plaintext, of: seal).event, in: event.id, &step)
        case (.seal, .encrypted(let content)), (.publishNotice, .encrypted(let content)): return .encrypted(content)
        case (.readNotice(let event, let relay), .decrypted(let content)):
            guard let notice = CopyNotice(content: content) else { throw CopyNotice.malformed }
            self.receive(notice, event, isLive: relay == nil, &step)
            self.endNotice(event, at: relay, &step)
        case (_, .signed(let events)): try self.applySigned(events, of: job.task, &step)
        default: preconditionFailure("the answer must match the operation")
        }
        return nil
    }

    private mutating func applySigned(_ events: [Event], of task: KeyTask, _ step: inout CoreStep) throws {
        guard let event = events.first else { preconditionFailure("a signing task must have at least one event") }
        switch task {
        case .seal(let due):
            let wrap = try GiftWrap.wrap(event, to: due.recipient, now: step.now, using: &step.random)
            self.enqueue(id: due.row, wrap, to: due.relays, .welcome, &step)
        case .announce(let reference): self.announce(events, of: reference, &step)
        case .proveDevice: try self.applyProof(event, &step)
        case .relayList: self.replaceRelayList(event, &step)
        case .delete(_, let relays):
            self.enqueue(id: "deletion/\(event.id.hex)", event, to: relays, .deletion, &step)
        case .publish(let due): self.publish(event, due, &step)
        case .publishNotice(let relays, _):
            self.remember(ownNotice: event.id, &step)
            self.enqueue(id: "instance/\(event.id.hex)", event, to: relays, .instance, &step)
        case .authorize(let operation): self.upload(operation, authorizedBy: events, &step)
        case .open, .readNotice: preconditionFailure("this task signs no events")
        }
    }

    /// Handles the failure of a task: the signer refused, or the input was invalid.
    mutating func fail(_ job: KeyJob, _ error: any Error, _ step: inout CoreStep) {
        let reason = "\((error as? SignerError).map { "the signer said: \($0.message)" } ?? "\(error)")"
        switch job.task {
        case .open(let event): self.noteUnopened(error, in: event.id, &step)
        case .readNotice(let event, let relay):
            step.effects.append(
                .note(
                    .refused(reason: CountedReason.badNotice.rawValue, detail: "invalid notice of an account copy")))
            self.endNotice(event, at: relay, &step)
        case .seal(let due):
            self.state.toast = "an invitation could not be created: \(reason)"
            step.effects.append(.note(.sendFailed(reason: "welcome: \(reason)")))
            self.endWelcome(due.row, refused: reason, &step)
        case .authorize(let operation): self.failUpload(operation, error, &step)
        case .announce: self.noteUnsigned("key package", reason, &step)
        case .proveDevice: self.noteUnproven(reason, &step)
        case .relayList: self.noteUnsigned("relay list", reason, &step)
        case .delete: self.noteUnsigned("deletion", reason, &step)
        case .publish(let due): self.noteUnsigned(due.purpose.rawValue, reason, &step)
        case .publishNotice: self.noteUnsigned("notice of this copy", reason, &step)
        }
        for request in job.requests {
            self.fail(request, AppCoreError(.signerRefused, reason), &step)
        }
    }

    private func noteUnsigned(_ what: String, _ reason: String, _ step: inout CoreStep) {
        step.effects.append(.note(.sendFailed(reason: "\(what): \(reason)")))
    }
}
