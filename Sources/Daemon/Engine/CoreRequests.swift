import Nostr
import PikaCore
import Synchronization

/// Requests to the core, and waiting for their outcomes, for states, for the delivery of events to clients, and for
/// that of this account's messages to relays.
final class CoreRequests: Sendable {
    private struct State {
        var pending: PendingRequests
        var deliveries = DeliveryResults()
        /// Whether no outcome will arrive any more.
        var hasEnded = false
    }

    private let core: any DaemonCore
    private let clock: any CoreClock
    private let scope: String
    private let state: Mutex<State>

    /// - Parameter scope: that of the daemon's durable values, and the prefix of its request ids.
    init(core: any DaemonCore, clock: any CoreClock, scope: String) {
        self.core = core
        self.clock = clock
        self.scope = scope
        self.state = Mutex(State(pending: PendingRequests(scope: scope)))
    }

    // MARK: Actions and values

    /// Dispatches an action and waits for its outcome. An action with an idempotency key is performed at most once.
    /// Returns nil on timeout; the core still completes the action.
    ///
    /// - Parameter id: the id under which the outcome is reported as an event too; nil if it is not.
    func outcome(
        of action: AppAction, key: String?, reportedAs id: ActionID? = nil, within milliseconds: Int64
    ) async -> ActionOutcome? {
        let promise = Promise<ActionOutcome>()
        guard let request = self.open(key, id, promise) else { return nil }
        if let id {
            self.core.dispatch(action, request: request, reportedAs: id)
        } else {
            self.core.dispatch(action, request: request)
        }
        return await promise.wait(milliseconds, self.clock)
    }

    /// Stores values, and returns once they are durable. Does nothing after ``end()``, because no outcome would arrive.
    func store(_ entries: [EventLog.Entry]) async {
        let promise = Promise<ActionOutcome>()
        guard let request = self.open(nil, nil, promise) else { return }
        let effects = entries.map { entry in
            HandlerEffect(
                id: "\(self.scope)/\(entry.key)",
                operation: .putValue(
                    scope: self.scope, key: entry.key, value: entry.value.map { JSONValue.object($0).json() }))
        }
        self.core.perform(effects, request: request)
        _ = await promise.wait()
    }

    func stored(_ key: String) async -> JSONObject? {
        guard let bytes = try? await self.core.value(scope: self.scope, key: key) else { return nil }
        return try? JSONValue(json: bytes).object
    }

    private func open(_ key: String?, _ id: ActionID?, _ promise: Promise<ActionOutcome>) -> RequestID? {
        self.state.withLock { $0.hasEnded ? nil : $0.pending.open(key: key, reportedAs: id, promise) }
    }

    // MARK: Waiting

    /// Waits until the state meets the condition; returns false on timeout.
    ///
    /// - Parameter current: the current state.
    func wait(
        _ milliseconds: Int64, from current: AppState, until isMet: @escaping @Sendable (AppState) -> Bool
    ) async -> Bool {
        if isMet(current) { return true }
        let promise = Promise<Bool>()
        let id = self.state.withLock { $0.pending.wait(promise, until: isMet) }
        let result = await promise.wait(milliseconds, self.clock) ?? false
        self.state.withLock { $0.pending.cancelWait(id) }
        return result
    }

    /// Waits until every event that the core has delivered so far has been sent to clients, or 10 s have passed.
    func waitUntilDelivered() async {
        let newest = await self.core.newestInboxID
        let promise = Promise<Bool>()
        guard let id = self.state.withLock({ $0.pending.waitForDelivery(upTo: newest, promise) }) else { return }
        _ = await promise.wait(10_000, self.clock)
        self.state.withLock { $0.pending.cancelDeliveryWait(id) }
    }

    /// Waits for the result of sending a message to relays; returns nil on timeout.
    func delivery(of messageID: EventID, within milliseconds: Int64) async -> AppState.Delivery? {
        let promise = Promise<AppState.Delivery>()
        if let known = self.state.withLock({ $0.deliveries.result(of: messageID, or: promise) }) {
            promise.fulfill(known)
        }
        return await promise.wait(milliseconds, self.clock)
    }

    // MARK: Results

    func receive(_ state: AppState) {
        for promise in self.state.withLock({ $0.pending.met(by: state) }) { promise.fulfill(true) }
    }

    /// Receives an update other than a state.
    func receive(_ update: AppUpdate) {
        switch update {
        case .finished(_, let request, let outcome):
            self.state.withLock { $0.pending.close(request) }?.fulfill(outcome)
        case .delivery(_, _, let messageID, let delivery):
            self.state.withLock { $0.deliveries.record(delivery, of: messageID) }?.fulfill(delivery)
        case .fullState: break
        }
    }

    /// Notes that the core's event was sent to clients, or is held until a command's reply.
    func noteDelivered(_ inboxID: Int64) {
        for promise in self.state.withLock({ $0.pending.delivered(inboxID) }) { promise.fulfill(true) }
    }

    /// Ends all waiting; later requests are not made.
    func end() {
        let (pending, deliveries) = self.state.withLock { state in
            state.hasEnded = true
            return (state.pending.end(), state.deliveries.end())
        }
        for promise in pending.outcomes { promise.fulfill(nil) }
        for promise in pending.waits { promise.fulfill(nil) }
        for promise in deliveries { promise.fulfill(nil) }
    }
}
