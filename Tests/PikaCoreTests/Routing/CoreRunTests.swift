import LiveTesting
import Logging
import MLS
import Nostr
import Synchronization
import Testing

@testable import PikaCore

@Suite(.live) struct CoreRunTests {
    private struct Broken: Error {}

    /// Loads nothing, and counts the commits that succeed.
    private final class NoteStore: CoreStore {
        let commits = Mutex(0)
        /// Delays a commit, or fails it by throwing.
        private let beforeCommit: @Sendable ([StoreChange]) async throws -> Void

        init(beforeCommit: @escaping @Sendable ([StoreChange]) async throws -> Void = { _ in }) {
            self.beforeCommit = beforeCommit
        }

        static let broken = { @Sendable (_: [StoreChange]) async throws -> Void in throw Broken() }

        func load() async throws -> StoredState { StoredState() }
        func commit(_ changes: [StoreChange]) async throws {
            try await self.beforeCommit(changes)
            self.commits.withLock { $0 += 1 }
        }
        func messages(
            in groupID: GroupID, before: StoredMessage.Position?, limit: Int
        ) async throws -> [StoredMessage] { [] }
        func messages(in groupID: GroupID, atPoints points: [Bytes32]) async throws -> [StoredMessage] { [] }
        func message(in groupID: GroupID, id: EventID) async throws -> StoredMessage? { nil }
        func nextExpiry() async throws -> UnixTime? { nil }
        func surplus(_ rule: MessageSurplus, limit: Int) async throws -> Int { 0 }
        func value(scope: String, key: String) async throws -> [UInt8]? { nil }
        func media(in groupID: GroupID, message: EventID) async throws -> [StoredMedia] { [] }
    }

    /// Has many updates ready, and accepts every event.
    private final class EagerTransport: RelayTransport {
        let updates: AsyncStream<RelayUpdate>
        private let continuation: AsyncStream<RelayUpdate>.Continuation
        private let stored: [RelayUpdate]
        let store: NoteStore
        let commitsAtPublish = Mutex<[Int]>([])

        init(_ store: NoteStore, updates: [RelayUpdate]) {
            (self.updates, self.continuation) = AsyncStream.makeStream(of: RelayUpdate.self)
            self.stored = updates
            for update in updates {
                if case .event = update { continue }
                self.continuation.yield(update)
            }
            self.store = store
        }

        func setRelays(_ relays: [RelayURL]) async {}
        /// A subscription's events arrive after it is open, as from a relay.
        func subscribe(_ subscription: RelaySubscription) async {
            for update in self.stored {
                if case .event(_, subscription.id, _) = update { self.continuation.yield(update) }
            }
        }
        func unsubscribe(_ id: String) async {}
        func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport> {
            let commits = self.store.commits.withLock { $0 }
            self.commitsAtPublish.withLock { $0.append(commits) }
            return AsyncStream { continuation in
                for relay in relays { continuation.yield(PublishReport(relay: relay, outcome: .accepted)) }
                continuation.finish()
            }
        }
        func fetch(
            _ filters: [Filter], from relays: [RelayURL], timeout: Duration
        ) async -> [RelayURL: FetchOutcome] { [:] }
        func shutdown() async {}
    }

    private static let refusals = [RelayUpdate](
        repeating: .refused(relay: ReducerWorld.relay, reason: "bad_signature"), count: 5000)

    private static let keys: KeyPair = {
        var random = SplitMix64(seed: 11)
        return KeyPair.generate(using: &random)
    }()

    private func core(
        _ store: NoteStore, _ transport: EagerTransport, clock: any CoreClock = SystemClock(),
        detectsCopies: Bool = false
    ) -> AppCore {
        var ports = CorePorts(transport: transport, store: store, clock: clock, logger: Logger(label: "test"))
        ports.randomness = SplitMix64(seed: 12)
        return AppCore(
            account: Self.keys,
            configuration: CoreConfiguration(relays: [ReducerWorld.relay], detectsCopies: detectsCopies), ports: ports)
    }

    @Test func storeFailureEndsCoreUnderLoad() async {
        let store = NoteStore(beforeCommit: NoteStore.broken)
        let core = self.core(store, EagerTransport(store, updates: Self.refusals))
        await #expect(throws: Broken.self) { try await core.run() }
    }

    @Test func searchEndsWithoutRelayAnswers() async throws {
        let store = NoteStore()
        let core = self.core(store, EagerTransport(store, updates: []))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await core.run() }
            #expect(await core.findKeyPackages(of: [core.account]) == [core.account: .noRelayAnswered])
            #expect(await core.findKeyPackages(of: []) == [:])
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func laterCopyEndsCore() async throws {
        let store = NoteStore()
        var random = SplitMix64(seed: 13)
        let notice = try CopyNotice(StoredInstance(id: [1], generation: 5), startedAt: 0).event(
            by: Self.keys, createdAt: 1, using: &random)
        let update = RelayUpdate.event(relay: ReducerWorld.relay, subscription: "instance", notice)
        let core = self.core(store, EagerTransport(store, updates: [update]), detectsCopies: true)
        let error = await #expect(throws: AppCoreError.self) { try await core.run() }
        #expect(error?.code == .superseded)
    }

    @Test func publishesOnlyDurableEventsWithRisingRevisions() async throws {
        let store = NoteStore()
        let transport = EagerTransport(store, updates: [])
        let core = self.core(store, transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let updates = core.updates()
            group.addTask { try await core.run() }
            var last: UInt64 = 0
            for number in 0..<20 { core.dispatch(.pushScreen(.newChat), request: RequestID(rawValue: "\(number)")) }
            var finished = 0
            for await update in updates {
                #expect(update.rev > last)
                last = update.rev
                switch update {
                case .fullState(let state):
                    if finished == 20, state.hasPublishedKeyPackage, state.outbox.pending == 0 { group.cancelAll() }
                case .finished:
                    finished += 1
                    if finished == 20, await core.state.hasPublishedKeyPackage { core.dispatch(.clearToast) }
                case .delivery: break
                }
            }
            try await group.waitForAll()
        }
        // Two relay lists and two key packages; no relay has answered which list 10002 exists.
        #expect(transport.commitsAtPublish.withLock { $0.count == 4 && $0.allSatisfy { $0 > 0 } })
    }

    // MARK: Processing while storing

    /// Tells when the core reads the time the next time, which it does for each batch of inputs.
    private final class ToldClock: CoreClock {
        private let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)
        private let clock = SystemClock()

        /// A read of the time from now on.
        var nextRead: AsyncStream<Void> {
            AsyncStream { continuation in self.listener.withLock { $0 = continuation } }
        }

        var nowMilliseconds: Int64 {
            self.listener.withLock { $0.take() }?.yield()
            return self.clock.nowMilliseconds
        }
        var monotonicMilliseconds: Int64 { self.clock.monotonicMilliseconds }
        func sleep(untilMilliseconds time: Int64) async throws {
            try await self.clock.sleep(untilMilliseconds: time)
        }
        func sleep(untilMonotonicMilliseconds time: Int64) async throws {
            try await self.clock.sleep(untilMonotonicMilliseconds: time)
        }
    }

    /// Each commit of the test's values waits until it is told whether to succeed.
    private final class Gate: Sendable {
        let begun: AsyncStream<Void>
        private let begin: AsyncStream<Void>.Continuation
        private let verdicts: AsyncStream<Bool>
        private let verdict: AsyncStream<Bool>.Continuation

        init() {
            (self.begun, self.begin) = AsyncStream.makeStream()
            (self.verdicts, self.verdict) = AsyncStream.makeStream()
        }

        func pass(_ changes: [StoreChange]) async throws {
            guard changes.contains(where: { if case .putValue("test", _, _) = $0 { true } else { false } }) else {
                return
            }
            self.begin.yield()
            for await isGood in self.verdicts {
                guard isGood else { throw Broken() }
                return
            }
        }

        func decide(_ isGood: Bool) { self.verdict.yield(isGood) }
    }

    /// The requests whose outcomes have been shown.
    private final class Shown: Sendable {
        let changes: AsyncStream<Void>
        private let change: AsyncStream<Void>.Continuation
        private let state = Mutex<[String]>([])

        init() { (self.changes, self.change) = AsyncStream.makeStream() }

        var requests: [String] { self.state.withLock { $0 } }

        func add(_ request: String) {
            self.state.withLock { $0.append(request) }
            self.change.yield()
        }
    }

    private static func next(_ stream: AsyncStream<Void>) async { for await _ in stream { return } }

    private static func store(_ value: UInt8, in core: AppCore) {
        let effect = HandlerEffect(id: "\(value)", operation: .putValue(scope: "test", key: "k", value: [value]))
        core.perform([effect], request: RequestID(rawValue: "\(value)"))
    }

    /// While changes are being stored, the core processes what comes next, and shows nothing of it.
    @Test(arguments: [true, false]) func processesWhileItStores(secondSucceeds: Bool) async throws {
        let (gate, clock) = (Gate(), ToldClock())
        let store = NoteStore { try await gate.pass($0) }
        let core = self.core(store, EagerTransport(store, updates: []), clock: clock)
        let shown = Shown()
        await withTaskGroup(of: Void.self) { group in
            let states = core.updates()
            let outcomes = core.outcomes()
            group.addTask {
                do {
                    try await core.run()
                    #expect(secondSucceeds)
                } catch { #expect(error is Broken && !secondSucceeds) }
            }
            for await case .fullState(let state) in states
            where state.hasPublishedKeyPackage && state.outbox.pending == 0 { break }
            group.addTask {
                for await case .finished(_, let request, _) in outcomes { shown.add(request.rawValue) }
            }
            Self.store(1, in: core)
            await Self.next(gate.begun)
            let read = clock.nextRead
            Self.store(2, in: core)
            // The second batch is being processed, and the first one is not stored.
            await Self.next(read)
            #expect(shown.requests.isEmpty)
            gate.decide(true)
            await Self.next(shown.changes)
            await Self.next(gate.begun)
            #expect(shown.requests == ["1"])
            gate.decide(secondSucceeds)
            if secondSucceeds {
                await Self.next(shown.changes)
                #expect(shown.requests == ["1", "2"])
                group.cancelAll()
            }
        }
        #expect(shown.requests == (secondSucceeds ? ["1", "2"] : ["1"]))
    }

    /// What has been stored is shown, though the next batch ends the core.
    @Test func showsWhatIsStoredBeforeItEnds() async throws {
        let (gate, clock) = (Gate(), ToldClock())
        let store = NoteStore { try await gate.pass($0) }
        let core = self.core(store, EagerTransport(store, updates: []), clock: clock, detectsCopies: true)
        var random = SplitMix64(seed: 14)
        let notice = try CopyNotice(StoredInstance(id: [1], generation: 5), startedAt: 0).event(
            by: Self.keys, createdAt: 1, using: &random)
        let shown = Shown()
        await withTaskGroup(of: Void.self) { group in
            let outcomes = core.outcomes()
            group.addTask {
                let error = await #expect(throws: AppCoreError.self) { try await core.run() }
                #expect(error?.code == .superseded)
            }
            group.addTask {
                for await case .finished(_, let request, _) in outcomes { shown.add(request.rawValue) }
            }
            Self.store(1, in: core)
            await Self.next(gate.begun)
            let read = clock.nextRead
            core.mailbox.send(.relay(.event(relay: ReducerWorld.relay, subscription: "instance", notice)))
            await Self.next(read)
            gate.decide(true)
        }
        #expect(shown.requests == ["1"])
    }
}
