import Nostr
import Synchronization

/// Distributes snapshots and outcomes to any number of readers.
///
/// A slow reader gets the newest snapshot and the outcomes since, up to ``maximumOutcomes``. Beyond that the oldest
/// deliveries are dropped first, since snapshots show them too. If only outcomes of actions are left to drop, the
/// reader's stream ends after those that it has queued.
///
/// One counter numbers the updates of all readers. A snapshot gets its number when it is published, an outcome when a
/// reader receives it. A waiting snapshot is received before waiting outcomes, so the numbers that a reader receives
/// strictly increase, and each outcome follows a state that shows its result.
final class UpdateHub: Sendable {
    static let maximumOutcomes = 4_096

    /// An update besides the snapshots, without its number.
    enum Outcome: Sendable {
        case finished(RequestID, ActionOutcome)
        case delivery(ChatID, EventID, AppState.Delivery)

        func update(rev: UInt64) -> AppUpdate {
            switch self {
            case .finished(let request, let outcome): .finished(rev: rev, request: request, outcome: outcome)
            case .delivery(let chatID, let messageID, let delivery):
                .delivery(rev: rev, chatID: chatID, messageID: messageID, delivery)
            }
        }
    }

    private struct State {
        /// The number of the last update.
        var rev: UInt64 = 0
        var newest: AppState?
        var readers: [UInt64: Reader] = [:]
        var nextReader: UInt64 = 0
        var isClosed = false

        mutating func nextRev() -> UInt64 {
            self.rev += 1  // checked: 2^64 updates are never made
            return self.rev
        }
    }

    private struct Reader {
        /// Whether it receives snapshots besides outcomes.
        let readsStates: Bool
        var hasNewState: Bool
        var outcomes: [Outcome] = []
        var waiter: CheckedContinuation<AppUpdate?, Never>?
        /// Whether outcomes were dropped; the stream ends after the queued ones.
        var hasLost = false

        mutating func add(_ outcome: Outcome) {
            guard !self.hasLost else { return }
            self.outcomes.append(outcome)
            guard self.outcomes.count > UpdateHub.maximumOutcomes else { return }
            let delivery = self.outcomes.firstIndex { if case .delivery = $0 { true } else { false } }
            if let delivery {
                self.outcomes.remove(at: delivery)
            } else {
                self.hasLost = true
                self.outcomes.removeLast()
            }
        }
    }

    private let state = Mutex(State())

    /// Publishes a snapshot; returns it with its number.
    @discardableResult
    func publish(_ snapshot: AppState) -> AppState {
        var snapshot = snapshot
        self.update { state in
            snapshot.rev = state.nextRev()
            state.newest = snapshot
            for (id, reader) in state.readers where reader.readsStates { state.readers[id]?.hasNewState = true }
        }
        return snapshot
    }

    func publish(_ outcome: Outcome) {
        self.update { state in
            for id in state.readers.keys { state.readers[id]?.add(outcome) }
        }
    }

    func close() {
        self.update { $0.isClosed = true }
    }

    /// Returns a stream of updates that starts with the newest snapshot.
    func updates() -> AsyncStream<AppUpdate> { self.updates(readsStates: true) }

    /// Returns a stream of updates without snapshots.
    func outcomes() -> AsyncStream<AppUpdate> { self.updates(readsStates: false) }

    private func updates(readsStates: Bool) -> AsyncStream<AppUpdate> {
        let id = self.state.withLock { state in
            state.nextReader += 1
            state.readers[state.nextReader] = Reader(
                readsStates: readsStates, hasNewState: readsStates && state.newest != nil)
            return state.nextReader
        }
        let registration = Registration(hub: self, id: id)
        return AsyncStream(
            unfolding: { await self.next(registration.id) },
            onCancel: { self.remove(id) })
    }

    /// The newest snapshot; nil before the first.
    var newest: AppState? { self.state.withLock { $0.newest } }

    /// The number of registered readers.
    var readerCount: Int { self.state.withLock { $0.readers.count } }

    /// Unregisters a reader when its stream is released, including a stream that was left early.
    private final class Registration: Sendable {
        let hub: UpdateHub
        let id: UInt64

        init(hub: UpdateHub, id: UInt64) {
            self.hub = hub
            self.id = id
        }

        deinit { self.hub.remove(self.id) }
    }

    private func remove(_ id: UInt64) {
        let waiter = self.state.withLock { $0.readers.removeValue(forKey: id)?.waiter }
        waiter?.resume(returning: nil)
    }

    private func next(_ id: UInt64) async -> AppUpdate? {
        await withCheckedContinuation { continuation in
            let (isReady, update) = self.state.withLock { state -> (Bool, AppUpdate?) in
                guard state.readers[id] != nil else { return (true, nil) }
                if let update = Self.nextUpdate(&state, id) { return (true, update) }
                if state.isClosed || state.readers[id]?.hasLost == true { return (true, nil) }
                state.readers[id]?.waiter = continuation
                return (false, nil)
            }
            if isReady { continuation.resume(returning: update) }
        }
    }

    /// Returns a reader's next update. A snapshot comes before the outcomes that refer to it, which are numbered here.
    private static func nextUpdate(_ state: inout State, _ id: UInt64) -> AppUpdate? {
        guard var reader = state.readers[id] else { return nil }
        defer { state.readers[id] = reader }
        if reader.hasLost, reader.outcomes.isEmpty { return nil }
        if reader.hasNewState, let newest = state.newest {
            reader.hasNewState = false
            return .fullState(newest)
        }
        if reader.outcomes.isEmpty { return nil }
        return reader.outcomes.removeFirst().update(rev: state.nextRev())
    }

    private func update(_ change: (inout State) -> Void) {
        let resumptions = self.state.withLock { state in
            change(&state)
            var resumptions: [(CheckedContinuation<AppUpdate?, Never>, AppUpdate?)] = []
            for (id, reader) in state.readers {
                guard let waiter = reader.waiter else { continue }
                let update = Self.nextUpdate(&state, id)
                guard update != nil || state.isClosed else { continue }
                state.readers[id]?.waiter = nil
                resumptions.append((waiter, update))
            }
            return resumptions
        }
        for (waiter, update) in resumptions { waiter.resume(returning: update) }
    }
}
