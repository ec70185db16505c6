public import Logging
import Metrics
public import Nostr
import Synchronization

/// One account: actions go in, snapshots and events come out.
///
/// Inputs are taken one after the other; what they change becomes durable in one transaction before anything of it
/// can be seen outside. ``run()`` must be running for anything to happen.
public actor AppCore {
    public nonisolated let account: PublicKey
    /// Events for handlers, in order; those not completed come again after a restart. One consumer.
    public nonisolated let events: AsyncStream<CoreEvent>
    /// The newest snapshot.
    public private(set) var state = AppState()

    private let key: AccountKey
    /// What it was started with; ``AppAction/reloadConfiguration(_:)`` changes the model's.
    private let configuration: CoreConfiguration
    let store: any CoreStore
    let files: MediaReader
    private let clock: any CoreClock
    private let runner: EffectRunner
    nonisolated let mailbox: Mailbox
    nonisolated let desk = VitalsDesk()
    private nonisolated let hub = UpdateHub()
    private let transport: any RelayTransport
    private nonisolated let searchCount = Atomic<Int>(0)
    private var random: CoreRandom
    nonisolated let callHub = CallMediaHub()
    /// As of the newest turn, as is what follows.
    var lastCall: CallMachine.Call?
    var mediaLookup = MediaLookup()
    /// The newest event that was put before the handlers, as of the newest turn; 0 if there was none.
    public private(set) var newestInboxID: Int64 = 0

    /// - Parameters:
    ///   - media: where files are; without one, actions with files fail.
    ///   - cache: where files go that were downloaded.
    ///   - callMedia: what carries calls; without one, calls ring and end when they are accepted.
    ///   - observer: hears what became of events that no handler is told of.
    ///   - randomness: for keys and nonces; anything but the system's generator is for tests.
    public init(
        account: AccountKey, configuration: CoreConfiguration, transport: any RelayTransport, store: any CoreStore,
        media: any MediaStore = NoMediaStore(), cache: any MediaCache = NoMediaCache(),
        callMedia: any CallMediaTransport = NoCallMediaTransport(), clock: any CoreClock,
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        observer: any CoreObserver = NoCoreObserver(), logger: Logger
    ) {
        let (events, continuation) = AsyncStream.makeStream(of: CoreEvent.self)
        let mailbox = Mailbox()
        self.account = account.publicKey
        self.key = account
        self.configuration = configuration
        self.transport = transport
        self.store = store
        let files = MediaReader(store: store, media: media, servers: MediaServers(configuration.mediaServers))
        self.files = files
        self.clock = clock
        self.events = events
        self.mailbox = mailbox
        self.random = CoreRandom(randomness)
        self.runner = EffectRunner(
            transport: transport, store: store, media: media, files: files, cache: cache, callMedia: callMedia,
            callHub: self.callHub, signer: account.signer, clock: clock, mailbox: mailbox, hub: self.hub,
            desk: self.desk, events: continuation, observer: observer, logger: logger)
    }

    /// As ``init(account:configuration:transport:store:media:cache:callMedia:clock:randomness:observer:logger:)``, with the key at hand.
    public init(
        account: KeyPair, configuration: CoreConfiguration, transport: any RelayTransport, store: any CoreStore,
        media: any MediaStore = NoMediaStore(), cache: any MediaCache = NoMediaCache(),
        callMedia: any CallMediaTransport = NoCallMediaTransport(), clock: any CoreClock,
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        observer: any CoreObserver = NoCoreObserver(), logger: Logger
    ) {
        self.init(
            account: .local(account), configuration: configuration, transport: transport, store: store, media: media,
            cache: cache, callMedia: callMedia, clock: clock, randomness: randomness, observer: observer, logger: logger
        )
    }

    /// Enqueues an action and returns at once.
    public nonisolated func dispatch(_ action: AppAction, request: RequestID? = nil) {
        self.mailbox.send(.action(action, request))
    }

    /// Marks an event as handled, together with everything the handlers want done. Returns at once.
    public nonisolated func complete(_ inboxID: Int64, effects: [HandlerEffect]) {
        self.mailbox.send(.handled(inboxID: inboxID, effects))
    }

    /// Does all of this in one transaction, without an event that it belongs to. Ends with ``ActionOutcome/done(chatID:)``
    /// once it is durable; what of it fails is counted, as with ``complete(_:effects:)``. A request made with
    /// ``RequestID/once(_:)`` is done once.
    public nonisolated func perform(_ effects: [HandlerEffect], request: RequestID) {
        self.mailbox.send(.effects(effects, request))
    }

    /// Snapshots and outcomes from now on, the newest snapshot first; for any number of readers.
    public nonisolated func updates() -> AsyncStream<AppUpdate> { self.hub.updates() }

    /// A durable value that a handler put.
    public nonisolated func value(scope: String, key: String) async throws -> [UInt8]? {
        try await self.store.value(scope: scope, key: key)
    }

    /// Looks for peers' key packages on this account's relays and on those that the peers name (MIP-00).
    ///
    /// Returns a verdict for each of them; none if the core ends before. ``run()`` must be running.
    public nonisolated func findKeyPackages(of peers: [PublicKey]) async -> [PublicKey: KeyPackageVerdict] {
        let number = self.searchCount.add(1, ordering: .relaxed).newValue
        let request = RequestID(rawValue: "find-key-packages/\(number)")
        let updates = self.updates()
        self.dispatch(.findKeyPackages(peers), request: request)
        for await case .finished(_, request, .found(let verdicts)) in updates { return verdicts }
        return [:]
    }

    /// Lets ``run()`` return once everything that was dispatched so far is durable; what comes later is dropped.
    public nonisolated func stop() { self.mailbox.finish() }

    /// The process is about to end in good order: what is cut off from now on has not killed it.
    public nonisolated func endsInGoodOrder() { self.store.crashes.settle() }

    /// How much is under way: inputs not processed yet, and transport or store calls not answered yet.
    public nonisolated var activity: (isProcessing: Bool, calls: Int) {
        (!self.mailbox.isIdle, self.runner.callCount)
    }

    /// Runs until the task is cancelled, or the store fails: then the error is thrown and the account must be started
    /// anew from what is durable. Throws ``AppCoreError/Code/superseded`` when a later copy of the account was started
    /// (``CoreConfiguration/detectsCopies``).
    public func run() async throws {
        let mailbox = self.mailbox
        let transport = self.transport
        let runner = self.runner
        defer {
            mailbox.close()
            self.hub.close()
            self.desk.close()
            runner.close()
        }
        var model = try self.restore(try await self.store.load())
        try await withThrowingDiscardingTaskGroup { group in
            // Children that wait for room must end too when the store failed.
            defer { mailbox.close() }
            group.addTask { for await update in transport.updates { await mailbox.sendWhenRoom(.relay(update)) } }
            if let signer = self.key.signer {
                group.addTask { for await url in signer.challenges { mailbox.send(.signerChallenge(url)) } }
            }
            mailbox.send(.started)
            try await withTaskCancellationHandler {
                while let batch = await mailbox.receive(limit: 128) {
                    let effects = try await self.process(batch, &model)
                    for effect in effects { await runner.perform(effect, in: &group) }
                }
            } onCancel: {
                mailbox.close()
            }
            group.cancelAll()
        }
    }

    private func restore(_ stored: StoredState) throws(AppCoreError) -> CoreModel {
        let crashes = self.store.crashes
        let outer = crashes.enterPass(.restore)
        defer { crashes.leave(outer) }
        return try CoreModel(
            account: OwnKey(self.key), configuration: self.configuration, stored: stored, crashes: crashes)
    }

    /// One batch: reduce, make durable, publish the snapshot; the effects come after that.
    private func process(_ batch: [CoreInput], _ model: inout CoreModel) async throws -> [AppEffect] {
        var step = CoreStep(nowMilliseconds: self.clock.nowMilliseconds, random: self.random)
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
        model.storeDirtyGroups(&step)
        self.random = step.random
        self.mediaLookup = MediaLookup(
            routes: model.routes, images: model.groupImages, profiles: model.people.groupProfiles)
        self.lastCall = model.call.latest
        self.files.servers.urls = model.configuration.mediaServers
        if !step.changes.isEmpty {
            let outer = crashes.enterPass(.store)
            defer { crashes.leave(outer) }
            try await self.store.commit(step.changes)
        }
        self.newestInboxID = model.lastInboxID
        if model.stateChanged {
            model.state.rev += 1
            model.stateChanged = false
            self.state = model.state
            self.hub.publish(model.state)
        }
        self.runner.rev = self.state.rev
        return step.effects
    }
}
