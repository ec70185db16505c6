import BotDispatch
public import BotKit
import CallMedia
import Synchronization

/// A member of a ``GroupLab``: an account with its running core, and a record of everything that the core published.
public final class LabMember: Sendable {
    /// Handles an event; the event is completed when this returns.
    public typealias Handler = @Sendable (CoreEvent) async -> [HandlerEffect]

    enum Work: Sendable {
        case handler(Handler)
        case bots
        case driver(Driver)
    }

    /// Plays the host of a core for one run of it: reads ``AppCore/events`` itself.
    package typealias Driver = @Sendable (AppCore) async -> Void

    /// One run of the core, from its start to its end or crash.
    struct Life: Sendable {
        let core: AppCore
        let store: MemoryCoreStore
        let transport: LabTransport
        let task: Task<Void, Never>
    }

    struct Record: Sendable {
        var events: [CoreEvent] = []
        var outcomes: [RequestID: ActionOutcome] = [:]
        /// All published snapshots, by run.
        var snapshots: [[AppState]] = []
        var notices: [CoreNotice] = []
        var failure: String?
        var requests = 0
    }

    /// The member's name, unique in its lab; identifies it in publications, logs and errors.
    public let name: String
    let lab: GroupLab
    /// The files that it has downloaded.
    package let cache = LabMediaCache()
    private let keys: KeyPair
    /// The remote signer of its key; nil if it holds the key itself.
    package let signer: LabSigner?
    private let configuration: CoreConfiguration
    private let work: Work
    private let life = Mutex<Life?>(nil)
    /// The store of the last run, kept after its end.
    let lastStore = Mutex<MemoryCoreStore?>(nil)
    let record = Mutex(Record())
    /// Its bots, kept after a crash; nil if it has none.
    let bots: Mutex<LabBots?>
    /// The crash journal of the current run.
    let inFlightStorage = Mutex(LabInFlightStorage(nil))
    let dispatcher = Mutex<BotDispatcher?>(nil)
    #if DEBUG
        private let crashTrap = Mutex<(stage: CrashStage?, name: String)>((nil, ""))
    #endif

    init(
        _ name: String, lab: GroupLab, configuration: CoreConfiguration, work: Work, bots: LabBots? = nil,
        hasSigner: Bool = false
    ) {
        var generator = SeededGenerator(seed: lab.seed, stream: "key of \(name)")
        self.name = name
        self.lab = lab
        self.keys = KeyPair.generate(using: &generator)
        self.signer =
            hasSigner
            ? LabSigner(self.keys, random: SeededGenerator(seed: lab.seed, stream: "signer of \(name)")) : nil
        self.configuration = configuration
        self.work = work
        self.bots = Mutex(bots)
    }

    /// The account's key, which depends on the lab's seed and the member's name only.
    public var publicKey: PublicKey { self.keys.publicKey }

    /// The secret key as hex, for tests that check for leaks.
    public var secretKeyHex: String { Hex.encode(self.keys.secretBytes) }

    /// The store of the present run.
    package var store: MemoryCoreStore { self.current.store }

    /// Events not yet completed by the handlers, even after a crash.
    package var storedInbox: [InboxRow] { self.lastStore.withLock { $0 }?.inbox ?? [] }

    /// The core of the present run.
    package var core: AppCore { self.current.core }

    /// The reason why the core ended without a crash; nil while it runs.
    var failure: String? { self.record.withLock { $0.failure } }

    private var current: Life {
        guard let life = self.life.withLock({ $0 }) else {
            preconditionFailure("\(self.name) has crashed and was not restarted")
        }
        return life
    }

    // MARK: Life

    func start(_ store: MemoryCoreStore) {
        let runs = self.record.withLock { record in
            record.snapshots.append([])
            return record.snapshots.count
        }
        let transport = self.lab.network.transport(name: self.name)
        var ports = CorePorts(
            transport: transport, store: store, clock: self.lab.clock, logger: self.lab.log.logger(self.name))
        ports.media = self.lab.media
        ports.cache = self.cache
        ports.callMedia = CallMediaSessions(transport: self.lab.calls, clock: self.lab.clock)
        ports.observer = Observer(member: self)
        ports.randomness = SeededGenerator(seed: self.lab.seed, stream: "\(self.name) run \(runs)")
        let core = AppCore(
            account: self.signer.map { .remote(self.keys.publicKey, $0) } ?? .local(self.keys),
            configuration: self.configuration, ports: ports)
        self.inFlightStorage.withLock { $0 = LabInFlightStorage($0.read()) }
        #if DEBUG
            store.crashes.set(
                CrashFault {
                    self.isCrashTrap($0, $1)
                } trap: {
                    self.crash()
                })
        #endif
        let updates = core.updates()
        self.lastStore.withLock { $0 = store }
        let task = Task(executorPreference: self.lab.executor) {
            await self.live(core, updates: updates, run: runs - 1)
        }
        self.life.withLock { $0 = Life(core: core, store: store, transport: transport, task: task) }
    }

    private func live(_ core: AppCore, updates: AsyncStream<AppUpdate>, run: Int) async {
        await withTaskGroup { group in
            group.addTask {
                do {
                    try await core.run()
                    self.ended(core, "its core has ended")
                } catch { self.ended(core, "\(error)") }
            }
            group.addTask { for await update in updates { self.recordUpdate(update, run: run) } }
            group.addTask { await self.work(core) }
        }
    }

    private func work(_ core: AppCore) async {
        switch self.work {
        case .handler(let handler):
            for await event in core.events {
                self.recordEvent(event)
                core.complete(event.inboxID, effects: await handler(event))
            }
        case .bots: if let bots = self.bots.withLock({ $0 }) { await self.dispatch(to: bots, core) }
        case .driver(let driver): await driver(core)
        }
    }

    /// Records the end of the present run only: that of a crashed run is expected.
    private func ended(_ core: AppCore, _ reason: String) {
        guard self.life.withLock({ $0?.core === core }) else { return }
        self.record.withLock { $0.failure = reason }
    }

    func recordEvent(_ event: CoreEvent) {
        self.record.withLock { $0.events.append(event) }
    }

    /// Records the core's notices.
    private struct Observer: CoreObserver {
        unowned let member: LabMember

        func note(_ notice: CoreNotice) { self.member.record.withLock { $0.notices.append(notice) } }
    }

    private func recordUpdate(_ update: AppUpdate, run: Int) {
        self.record.withLock { record in
            switch update {
            case .fullState(let state): record.snapshots[run].append(state)
            case .finished(_, let request, let outcome): record.outcomes[request] = outcome
            case .delivery: break
            }
        }
    }

    // MARK: Crashes

    /// Ends the core at once, as `kill -9` does: nothing more of it reaches the store or a relay.
    public func crash() {
        guard let life = self.life.withLock({ $0.take() }) else { return }
        life.store.stop()
        self.inFlightStorage.withLock { $0 }.stop()
        life.transport.cut()
        life.task.cancel()
    }

    /// Plans a crash at a point of the store's work; ``hasCrashed`` tells whether it has happened.
    package func crash(_ point: MemoryCoreStore.StopPoint) {
        self.store.stop(point) { self.crash() }
    }

    #if DEBUG
        /// Schedules a trap whenever the core reaches `stage` of a subject whose name has this prefix; nil disables it.
        /// In debug builds only.
        package func trap(at stage: CrashStage?, of name: String = "") {
            self.crashTrap.withLock { $0 = (stage, name) }
        }

        private func isCrashTrap(_ stage: CrashStage, _ name: String) -> Bool {
            self.crashTrap.withLock { $0.stage == stage && name.hasPrefix($0.name) }
        }
    #endif

    /// Restarts the member as often as it crashes, at most ten times; returns the number of restarts.
    public func heal() async throws -> Int {
        for deaths in 0..<10 {
            guard self.hasCrashed else { return deaths }
            try await self.restart()
        }
        return 10
    }

    /// Whether the member has crashed and was not restarted since.
    public var hasCrashed: Bool { self.life.withLock { $0 == nil } }

    /// Restarts a crashed member from the state of its last commit.
    public func restart() async throws {
        guard let store = self.lastStore.withLock({ $0 }) else { preconditionFailure("\(self.name) never ran") }
        try await self.restart(from: store.snapshot())
    }

    /// Restarts a crashed member from another store, such as an earlier snapshot or a restored one.
    package func restart(from store: MemoryCoreStore) async throws {
        precondition(self.hasCrashed, "\(self.name) has not crashed")
        self.start(store)
        try await self.lab.settle()
    }
}
