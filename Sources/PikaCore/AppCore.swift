import MLS
package import Nostr
import Synchronization

/// The core of one account: receives actions, emits snapshots and events.
///
/// Inputs are processed one after the other, in batches, and the changes of a batch become durable in one transaction before
/// any effect of them is visible outside. Meanwhile the next batch is processed. Nothing happens unless ``run()`` is running.
package actor AppCore {
    package nonisolated let account: PublicKey
    /// Events for handlers, in order; uncompleted ones are delivered again after a restart. One consumer.
    package nonisolated let events: AsyncStream<CoreEvent>
    /// The newest snapshot.
    package private(set) var state = AppState()

    private let key: AccountKey
    /// The initial configuration; ``AppAction/reloadConfiguration(_:)`` changes the model's.
    private let configuration: CoreConfiguration
    private nonisolated let ports: CorePorts
    let files: MediaReader
    private let runner: EffectRunner
    nonisolated let mailbox: Mailbox
    nonisolated let healthQueries = PendingQueries<CoreVitals>()
    nonisolated let deliveryQueries = PendingQueries<[AppState.Delivery]>()
    nonisolated let feedAnswers = PendingQueries<FeedReceipt>()
    private nonisolated let hub = UpdateHub()
    private nonisolated let searchCount = Atomic<Int>(0)
    private var random: CoreRandom
    /// The latest call; like the next two properties, updated with each batch of inputs.
    var lastCall: CallMachine.Call?
    var mediaLookup = MediaLookup()
    /// The id of the newest event delivered to the handlers; 0 if there was none.
    package private(set) var newestInboxID: Int64 = 0

    package init(account: AccountKey, configuration: CoreConfiguration, ports: CorePorts) {
        let (events, continuation) = AsyncStream.makeStream(of: CoreEvent.self)
        self.account = account.publicKey
        self.key = account
        self.configuration = configuration
        self.ports = ports
        self.files = MediaReader(
            store: ports.store, media: ports.media, servers: MediaServers(configuration.mediaServers),
            cache: ports.cache)
        self.events = events
        self.mailbox = Mailbox()
        self.random = CoreRandom(ports.randomness)
        let outputs = EffectRunner.Outputs(
            mailbox: self.mailbox, hub: self.hub, events: continuation, healthQueries: self.healthQueries,
            deliveryQueries: self.deliveryQueries, feedAnswers: self.feedAnswers)
        self.runner = EffectRunner(ports, outputs, files: self.files, signer: account.signer)
    }

    /// As ``init(account:configuration:ports:)``, with a local key.
    package init(account: KeyPair, configuration: CoreConfiguration, ports: CorePorts) {
        self.init(account: .local(account), configuration: configuration, ports: ports)
    }

    nonisolated var store: any CoreStore { self.ports.store }

    /// The media of this account's calls.
    package nonisolated var callMediaEngine: any CallMediaEngine { self.ports.callMedia }

    /// Returns the newest snapshot, as ``state`` does, without waiting for the core.
    ///
    /// A snapshot is published before the events of its turn are delivered, so handlers see the state that includes
    /// their event.
    package nonisolated func snapshot() -> AppState { self.hub.newest ?? AppState() }

    /// Enqueues an action and returns at once.
    package nonisolated func dispatch(_ action: AppAction, request: RequestID? = nil) {
        self.mailbox.send(.action(action, request))
    }

    /// Enqueues an action whose outcome is also reported as an ``OutcomeEvent``, durably and once. Returns at once.
    ///
    /// - Parameters:
    ///   - request: ``RequestID/once(_:)``, or ``RequestID/command(_:)`` of the same id.
    ///   - id: its first part is the name of the receiver. A failed action may be requested again under the same id.
    package nonisolated func dispatch(_ action: AppAction, request: RequestID, reportedAs id: ActionID) {
        self.mailbox.send(.command(action, request, id))
    }

    /// Marks an event as handled and enqueues its handlers' effects with it. Returns at once.
    package nonisolated func complete(_ inboxID: Int64, effects: [HandlerEffect]) {
        self.mailbox.send(.handled(inboxID: inboxID, effects))
    }

    /// Performs all effects in one transaction, without a related event. Ends with ``ActionOutcome/done(chatID:)`` once
    /// they are durable; failed ones are counted, as with ``complete(_:effects:)``. A request made with
    /// ``RequestID/once(_:)`` is performed once.
    package nonisolated func perform(_ effects: [HandlerEffect], request: RequestID) {
        self.mailbox.send(.effects(effects, request))
    }

    /// Returns a stream of snapshots and outcomes from now on, starting with the newest snapshot; for any number of
    /// readers.
    package nonisolated func updates() -> AsyncStream<AppUpdate> { self.hub.updates() }

    /// Returns a stream of outcomes from now on, without snapshots: for readers to which a snapshot in each turn of the
    /// core would be a burden.
    package nonisolated func outcomes() -> AsyncStream<AppUpdate> { self.hub.outcomes() }

    /// Returns a durable value that a handler stored.
    package nonisolated func value(scope: String, key: String) async throws -> [UInt8]? {
        try await self.store.value(scope: scope, key: key)
    }

    /// Searches for peers' key packages on this account's relays and on those that the peers list (MIP-00).
    ///
    /// Returns a verdict for each peer; an empty result if the core ends first. ``run()`` must be running.
    package nonisolated func findKeyPackages(of peers: [PublicKey]) async -> [PublicKey: KeyPackageVerdict] {
        let number = self.searchCount.add(1, ordering: .relaxed).newValue
        let request = RequestID(rawValue: "find-key-packages/\(number)")
        let updates = self.updates()
        self.dispatch(.findKeyPackages(peers), request: request)
        for await case .finished(_, request, .found(let verdicts)) in updates { return verdicts }
        return [:]
    }

    /// Lets ``run()`` return once everything dispatched so far is durable; later inputs are dropped.
    package nonisolated func stop() { self.mailbox.finish() }

    /// Declares that the process is about to exit normally: work interrupted from now on is not recorded as a crash.
    package nonisolated func prepareForExit() { self.store.crashes.close() }

    /// The pending work: whether inputs are being processed or queued, and the number of transport and store calls in
    /// flight.
    package nonisolated var activity: (isProcessing: Bool, calls: Int) {
        (!self.mailbox.isIdle, self.runner.callCount)
    }

    /// Runs until the task is cancelled or the store fails. A store failure is thrown, and the account must then be
    /// restarted from its durable state. Throws `AppCoreError.Code.superseded` when a later copy of the account was
    /// started (``CoreConfiguration/detectsCopies``).
    package func run() async throws {
        let mailbox = self.mailbox
        let transport = self.ports.transport
        let runner = self.runner
        defer {
            mailbox.close()
            self.hub.close()
            self.healthQueries.close()
            self.feedAnswers.close()
            self.deliveryQueries.close()
            runner.close()
        }
        // Behind a reference, because this task keeps its frame as long as the core runs. The synchronous parts below
        // are not inlined for the same reason: their temporaries would stay in it.
        var model = try self.restore(try await self.store.load())
        try await withThrowingDiscardingTaskGroup { group in
            // Close it even if the store has failed, to end child tasks that wait for room in the mailbox.
            defer { mailbox.close() }
            transport.offerUpdates { mailbox.offer($0) }
            group.addTask { for await update in transport.updates { await mailbox.deliver(update) } }
            if let signer = self.key.signer {
                group.addTask { for await url in signer.challenges { mailbox.send(.signerChallenge(url)) } }
            }
            mailbox.send(.started)
            try await withTaskCancellationHandler {
                while let batch = await mailbox.receive(limit: Mailbox.batch) {
                    try await self.process(batch, &model, in: &group)
                }
            } onCancel: {
                mailbox.close()
            }
            group.cancelAll()
        }
    }

    @inline(never)
    private func restore(_ stored: StoredState) throws(AppCoreError) -> CopyOnWrite<CoreModel> {
        let crashes = self.store.crashes
        let pass = crashes.beginPass(.restore)
        defer { crashes.end(pass) }
        let model = try CoreModel(
            account: OwnKey(self.key), configuration: self.configuration, stored: stored, crashes: crashes)
        return CopyOnWrite(model)
    }

    /// What one batch of inputs has caused, and nobody has seen yet. A class, to keep the frames of the core's task small.
    private final class Turn: Sendable {
        let changes: [StoreChange]
        let effects: [AppEffect]
        /// The new snapshot, without its number; nil if it has not changed.
        let state: AppState?
        let newestInboxID: Int64
        let lookup: MediaLookup
        let lastCall: CallMachine.Call?
        let mediaServers: [MediaURL]

        init(_ step: CoreStep, _ model: inout CoreModel) {
            self.changes = step.changes
            self.effects = step.effects
            self.state = model.published.takeChange()
            self.newestInboxID = model.inbox.lastID
            self.lookup = MediaLookup(
                routes: model.groups.routes, images: model.media.groupImages, pictures: model.media.groupPictures,
                profiles: model.people.groups.profiles)
            self.lastCall = model.calls.latest
            self.mediaServers = model.configuration.mediaServers
        }
    }

    /// Processes a batch of inputs: reduces it, stores the changes, and then shows and performs what follows from them.
    private func process(
        _ batch: [CoreInput], _ model: inout CopyOnWrite<CoreModel>, in group: inout EffectRunner.TaskGroup
    ) async throws {
        var turn = try self.reduce(batch, &model.value)
        while true {
            let next = try await self.store(turn, &model)
            self.show(turn)
            await self.runner.perform(turn.effects, in: &group)
            guard let next else { return }
            turn = try next.get()
        }
    }

    /// Stores the changes of a turn. Returns the turn of the inputs that arrived meanwhile; nil if there are none.
    private func store(_ turn: Turn, _ model: inout CopyOnWrite<CoreModel>) async throws -> Result<Turn, any Error>? {
        if turn.changes.isEmpty { return nil }
        if self.store.commitsAtOnce {
            try await self.commit(turn.changes)
            return nil
        }
        return try await self.reduceWhileStoring(turn, &model)
    }

    /// Nobody sees anything of the next turn before its own changes are stored. If storing fails, the core ends; a failure of
    /// the next turn is returned, so that what is stored is shown first.
    private func reduceWhileStoring(
        _ turn: Turn, _ model: inout CopyOnWrite<CoreModel>
    ) async throws -> Result<Turn, any Error>? {
        self.mailbox.beginWait()
        async let stored: Void = self.commit(turn.changes)
        let batch = await self.mailbox.receiveUntilWaitEnds(limit: Mailbox.batch)
        let next = batch.map { batch in Result { try self.reduce(batch, &model.value) } }
        try await stored
        return next
    }

    @inline(never)
    private func reduce(_ batch: [CoreInput], _ model: inout CoreModel) throws -> Turn {
        let clock = self.ports.clock
        var step = CoreStep(
            nowMilliseconds: clock.nowMilliseconds, monotonicMilliseconds: clock.monotonicMilliseconds,
            random: self.random, work: self.ports.work)
        let crashes = self.store.crashes
        for input in batch {
            guard let subject = input.crashSubject else {
                model.reduce(input, &step)
                continue
            }
            let outer = crashes.enter(subject, .reduce)
            model.reduce(input, &step)
            crashes.leave(outer)
        }
        if let failure = model.failure { throw failure }
        model.storeChanges(&step)
        self.random = step.random
        return Turn(step, &model)
    }

    private nonisolated func commit(_ changes: [StoreChange]) async throws {
        defer { self.mailbox.endWait() }
        let crashes = self.store.crashes
        let pass = crashes.beginPass(.store)
        defer { crashes.end(pass) }
        try await self.store.commit(changes)
    }

    /// Shows a stored turn's snapshot.
    @inline(never)
    private func show(_ turn: Turn) {
        self.mediaLookup = turn.lookup
        self.lastCall = turn.lastCall
        self.files.servers.urls = turn.mediaServers
        self.newestInboxID = turn.newestInboxID
        if let state = turn.state { self.state = self.hub.publish(state) }
    }
}
