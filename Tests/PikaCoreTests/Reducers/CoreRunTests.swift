import Logging
import Nostr
import Synchronization
import Testing

@testable import PikaCore

@Suite struct CoreRunTests {
    private struct Broken: Error {}

    /// Loads nothing, and fails or notes every commit.
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
            in groupID: [UInt8], before: StoredMessage.Position?, limit: Int
        ) async throws -> [StoredMessage] { [] }
        func nextExpiry() async throws -> Int64? { nil }
        func value(scope: String, key: String) async throws -> [UInt8]? { nil }
        func media(in groupID: [UInt8], message: EventID) async throws -> [StoredMedia] { [] }
    }

    /// Has many updates ready, and takes every event.
    private final class EagerTransport: RelayTransport {
        let updates: AsyncStream<RelayUpdate>
        let store: NoteStore
        let commitsAtPublish = Mutex<[Int]>([])

        init(_ store: NoteStore, updates count: Int) {
            let (stream, continuation) = AsyncStream.makeStream(of: RelayUpdate.self)
            for _ in 0..<count { continuation.yield(.refused(relay: ReducerWorld.relay, reason: "bad_signature")) }
            self.updates = stream
            self.store = store
        }

        func setRelays(_ relays: [RelayURL]) async {}
        func subscribe(_ subscription: RelaySubscription) async {}
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

    private func core(_ store: NoteStore, _ transport: EagerTransport) -> AppCore {
        var random = StepRandom(state: 11)
        return AppCore(
            account: KeyPair.generate(using: &random),
            configuration: CoreConfiguration(relays: [ReducerWorld.relay]), transport: transport, store: store,
            clock: SystemClock(), randomness: random, logger: Logger(label: "test"))
    }

    @Test(.timeLimit(.minutes(5))) func aStoreThatFailsEndsTheCoreAlsoUnderLoad() async {
        let store = NoteStore(isBroken: true)
        let core = self.core(store, EagerTransport(store, updates: 5000))
        await #expect(throws: Broken.self) { try await core.run() }
    }

    @Test(.timeLimit(.minutes(5))) func aSearchEndsAlsoWhenNoRelayAnswers() async throws {
        let store = NoteStore(isBroken: false)
        let core = self.core(store, EagerTransport(store, updates: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await core.run() }
            #expect(await core.findKeyPackages(of: [core.account]) == [core.account: .noRelayAnswered])
            #expect(await core.findKeyPackages(of: []) == [:])
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test(.timeLimit(.minutes(5))) func nothingIsPublishedBeforeItIsDurableAndRevsRise() async throws {
        let store = NoteStore(isBroken: false)
        let transport = EagerTransport(store, updates: 0)
        let core = self.core(store, transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let updates = core.updates()
            group.addTask { try await core.run() }
            var last: UInt64 = 0
            for number in 0..<20 { core.dispatch(.pushScreen(.newChat), request: RequestID(rawValue: "\(number)")) }
            var finished = 0
            for await update in updates {
                switch update {
                case .fullState(let state):
                    #expect(state.rev > last)
                    last = state.rev
                    if finished == 20, state.hasPublishedKeyPackage, state.outbox.pending == 0 { group.cancelAll() }
                case .finished(let rev, _, _):
                    #expect(rev <= last)
                    finished += 1
                    if finished == 20, await core.state.hasPublishedKeyPackage { core.dispatch(.clearToast) }
                }
            }
            try await group.waitForAll()
        }
        #expect(transport.commitsAtPublish.withLock { $0.count == 4 && $0.allSatisfy { $0 > 0 } })
    }
}
