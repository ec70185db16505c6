import LiveTesting
import Logging
import MLS
import Nostr
import Synchronization
import Testing

@testable import PikaCore

@Suite(.live) struct CoreRunTests {
    private struct Broken: Error {}

    /// Loads nothing, and fails or records every commit.
    private final class NoteStore: CoreStore {
        let isBroken: Bool
        let commits = Mutex(0)

        init(isBroken: Bool) { self.isBroken = isBroken }

        func load() async throws -> StoredState { StoredState() }
        func commit(_ changes: [StoreChange]) async throws {
            if self.isBroken { throw Broken() }
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

    private func core(_ store: NoteStore, _ transport: EagerTransport, detectsCopies: Bool = false) -> AppCore {
        var ports = CorePorts(
            transport: transport, store: store, clock: SystemClock(), logger: Logger(label: "test"))
        ports.randomness = SplitMix64(seed: 12)
        return AppCore(
            account: Self.keys,
            configuration: CoreConfiguration(relays: [ReducerWorld.relay], detectsCopies: detectsCopies), ports: ports)
    }

    @Test func storeFailureEndsCoreUnderLoad() async {
        let store = NoteStore(isBroken: true)
        let core = self.core(store, EagerTransport(store, updates: Self.refusals))
        await #expect(throws: Broken.self) { try await core.run() }
    }

    @Test func searchEndsWithoutRelayAnswers() async throws {
        let store = NoteStore(isBroken: false)
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
        let store = NoteStore(isBroken: false)
        var random = SplitMix64(seed: 13)
        let notice = try CopyNotice(StoredInstance(id: [1], generation: 5), startedAt: 0).event(
            by: Self.keys, createdAt: 1, using: &random)
        let update = RelayUpdate.event(relay: ReducerWorld.relay, subscription: "instance", notice)
        let core = self.core(store, EagerTransport(store, updates: [update]), detectsCopies: true)
        let error = await #expect(throws: AppCoreError.self) { try await core.run() }
        #expect(error?.code == .superseded)
    }

    @Test func publishesOnlyDurableEventsWithRisingRevisions() async throws {
        let store = NoteStore(isBroken: false)
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
}
