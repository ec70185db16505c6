import Nostr
import Synchronization

/// Performs effects: the only place that awaits the transport, the store's reads and the clock. Results go back into
/// the mailbox.
final class EffectRunner: Sendable {
    /// The destinations of results and outputs inside the core.
    struct Outputs: Sendable {
        let mailbox: Mailbox
        let hub: UpdateHub
        let events: AsyncStream<CoreEvent>.Continuation
        let healthQueries: PendingQueries<CoreVitals>
        let deliveryQueries: PendingQueries<[AppState.Delivery]>
        let feedAnswers: PendingQueries<FeedReceipt>
    }

    typealias TaskGroup = ThrowingDiscardingTaskGroup<any Error>

    let ports: CorePorts
    let outputs: Outputs
    let files: MediaReader
    /// Nil if the key is local; the reducers then use it directly.
    private let signer: (any RemoteSigner)?
    private let notes: NoteRecorder
    private let calls = Atomic<Int>(0)

    init(_ ports: CorePorts, _ outputs: Outputs, files: MediaReader, signer: (any RemoteSigner)?) {
        self.ports = ports
        self.outputs = outputs
        self.files = files
        self.signer = signer
        self.notes = NoteRecorder(logger: ports.logger)
    }

    var mailbox: Mailbox { self.outputs.mailbox }

    /// Transport and store calls in flight; waiting for the clock does not count.
    var callCount: Int { self.calls.load(ordering: .sequentiallyConsistent) }

    func close() { self.outputs.events.finish() }

    /// Performs effects: at once if they are short, otherwise in child tasks that end with the core.
    ///
    /// Relays and subscriptions are set in the order of the effects, so the last one wins.
    func perform(_ effects: [AppEffect], in group: inout TaskGroup) async {
        for effect in effects where !self.start(effect, in: &group) { await self.order(effect, in: &group) }
    }

    /// Performs the effects that have to wait for the transport, so that it receives them in order.
    private func order(_ effect: AppEffect, in group: inout TaskGroup) async {
        switch effect {
        case .reconnect: await self.ports.transport.reconnect()
        case .setEndpoints(let relays, let servers): await self.setEndpoints(relays, servers)
        case .setRelays(let relays): await self.ports.transport.setRelays(relays)
        case .subscribe(let subscription): await self.ports.transport.subscribe(subscription)
        case .unsubscribe(let id): await self.ports.transport.unsubscribe(id)
        case .publish(let row, let event, let relays): await self.publish(event, row, to: relays, in: &group)
        default: break  // start(_:in:), whose switch names every case, has performed it.
        }
    }

    /// Performs an effect without waiting; returns false for those of ``order(_:in:)``. Not inlined, because the payloads
    /// of all cases would stay in the frame of the core's task.
    @inline(never)
    private func start(_ effect: AppEffect, in group: inout TaskGroup) -> Bool {
        switch effect {
        case .deliver(let event): self.deliver(event)
        case .storeQuarantined(let subject, let event): self.ports.store.crashes.keep(event.json(), of: subject)
        case .changeQuarantine(let change, let subject): self.changeQuarantine(change, of: subject)
        case .answerVitals(let number, let vitals): self.outputs.healthQueries.answer(number, vitals)
        case .answerFeed(let number, let receipt): self.outputs.feedAnswers.answer(number, receipt)
        case .answerDeliveries(let number, let found): self.outputs.deliveryQueries.answer(number, found)
        case .finish(let request, let outcome): self.finish(request, outcome)
        case .report(let chatID, let messageID, let delivery): self.report(delivery, of: messageID, in: chatID)
        case .note(let note): self.notes.record(note)
        case .observe(let notice): self.ports.observer.note(notice)
        case .wake(let timer, let time): self.wake(timer, at: time, in: &group)
        case .wakeMonotonic(let timer, let time): self.wake(timer, atMonotonic: time, in: &group)
        case .startCallMedia(let plan): self.startCallMedia(plan, in: &group)
        case .setCallMedia(let callID, let isMuted, let isCameraOn):
            self.ports.callMedia.set(callID: callID, isMuted: isMuted, isCameraOn: isCameraOn)
        case .stopCallMedia(let callID): self.ports.callMedia.stop(callID: callID)
        case .fetch(let purpose, let filters, let relays): self.fetch(purpose, filters, from: relays, in: &group)
        case .loadSent(let groupID, let epoch): self.loadSent(groupID, from: epoch, in: &group)
        case .loadUnsent(let groupID, let epoch): self.loadUnsent(groupID, upTo: epoch, in: &group)
        case .loadWithdrawn(let groupID, let points): self.loadWithdrawn(groupID, points, in: &group)
        case .loadNextExpiry: self.loadNextExpiry(in: &group)
        case .upload(let operation, let blobs, let servers): self.upload(blobs, to: servers, operation, in: &group)
        case .useKey(let job, let operation): self.useKey(operation, job, in: &group)
        case .countSurplus(let rule, let limit): self.countSurplus(rule, limit: limit, in: &group)
        case .loadMessages(let groupID, let before, let limit, let opening, let request):
            let range = MessageRange(groupID: groupID, before: before, limit: limit)
            self.loadMessages(range, opening: opening, request, in: &group)
        case .loadMessage(let groupID, let id, let request): self.loadMessage(id, in: groupID, request, &group)
        case .download(let file, let groupID, let request): self.download(file, of: groupID, request, in: &group)
        case .reconnect, .setEndpoints, .setRelays, .subscribe, .unsubscribe, .publish: return false
        }
        return true
    }

    /// Runs a call of the transport or the store in a child task.
    func call(in group: inout TaskGroup, _ body: @escaping @Sendable () async throws -> Void) {
        self.calls.add(1, ordering: .sequentiallyConsistent)
        group.addTask {
            defer { self.calls.subtract(1, ordering: .sequentiallyConsistent) }
            do { try await body() } catch {
                // A failing store ends the core: closing the mailbox ends the core's loop, and run() throws this error.
                self.mailbox.close()
                throw error
            }
        }
    }

    // MARK: Outputs

    private func deliver(_ event: CoreEvent) {
        EventCounters.count(event)
        guard let receiver = self.ports.eventReceiver else {
            self.outputs.events.yield(event)
            return
        }
        receiver(event)
        self.mailbox.enqueue(.handled(inboxID: event.inboxID, []))
    }

    private func changeQuarantine(_ change: QuarantineChange, of subject: CrashSubject) {
        switch change {
        case .forget: self.ports.store.crashes.forget(subject)
        case .releaseAtStart: self.ports.store.crashes.releaseAtStart(subject)
        }
    }

    private func finish(_ request: RequestID, _ outcome: ActionOutcome) {
        self.outputs.hub.publish(.finished(request, outcome))
    }

    private func report(_ delivery: AppState.Delivery, of messageID: EventID, in chatID: ChatID) {
        self.outputs.hub.publish(.delivery(chatID, messageID, delivery))
    }

    // MARK: Clock, calls and key

    private func wake(_ timer: CoreTimer, at time: Int64, in group: inout TaskGroup) {
        group.addTask {
            try? await self.ports.clock.sleep(untilMilliseconds: time)
            if !Task.isCancelled { self.mailbox.send(.timer(timer)) }
        }
    }

    private func wake(_ timer: CoreTimer, atMonotonic time: Int64, in group: inout TaskGroup) {
        group.addTask {
            try? await self.ports.clock.sleep(untilMonotonicMilliseconds: time)
            if !Task.isCancelled { self.mailbox.send(.timer(timer)) }
        }
    }

    private func startCallMedia(_ plan: CallMediaPlan, in group: inout TaskGroup) {
        // Opened here, not in the child task, so that later effects of the call find it.
        let run = self.ports.callMedia.open(plan) { self.mailbox.send(.callMedia($0)) }
        group.addTask { await run() }
    }

    private func useKey(_ operation: KeyOperation, _ job: Int, in group: inout TaskGroup) {
        guard let signer = self.signer else { preconditionFailure("key effects require a remote signer") }
        self.call(in: &group) {
            let result: Result<KeyAnswer, SignerError>
            do throws(SignerError) { result = .success(try await operation.perform(with: signer)) } catch {
                result = .failure(error)
            }
            self.mailbox.send(.keyUsed(job: job, result))
        }
    }
}
