import Nostr
import PikaCore

/// Requests to the core, and waiting for their outcomes.
extension DaemonEngine {
    /// Dispatches an action and waits for its outcome. An action with an idempotency key is performed at most once.
    /// Returns nil on timeout; the core still completes the action.
    func outcome(of action: AppAction, key: String? = nil, within milliseconds: Int64? = nil) async -> ActionOutcome? {
        guard !self.isEnding else { return nil }
        let promise = Promise<ActionOutcome>()
        let request = self.machine.requests.open(key: key, promise)
        self.core.dispatch(action, request: request)
        return await promise.wait(milliseconds ?? self.machine.settings.commandPatience, self.clock)
    }

    /// Stores values, and returns once they are durable.
    func store(_ entries: [EventLog.Entry]) async {
        // After shutdown no outcome would arrive.
        guard !self.isEnding else { return }
        let promise = Promise<ActionOutcome>()
        let request = self.machine.requests.open(promise)
        let scope = self.machine.settings.scope
        let effects = entries.map { entry in
            HandlerEffect(
                id: "\(scope)/\(entry.key)",
                operation: .putValue(
                    scope: scope, key: entry.key, value: entry.value.map { JSONValue.object($0).json() }))
        }
        self.core.perform(effects, request: request)
        _ = await promise.wait()
    }

    func stored(_ key: String) async -> JSONObject? {
        guard let bytes = try? await self.core.value(scope: self.machine.settings.scope, key: key) else { return nil }
        return try? JSONValue(json: bytes).object
    }

    /// Waits until the state meets the condition; returns false on timeout.
    func wait(_ milliseconds: Int64, until isMet: @escaping @Sendable (AppState) -> Bool) async -> Bool {
        if isMet(self.machine.state) { return true }
        let promise = Promise<Bool>()
        let id = self.machine.requests.wait(promise, until: isMet)
        let result = await promise.wait(milliseconds, self.clock) ?? false
        self.machine.requests.cancelWait(id)
        return result
    }

    /// Waits until every event that the core has delivered so far has been sent to clients; returns false on timeout.
    func waitUntilDelivered(_ milliseconds: Int64 = 10_000) async -> Bool {
        let newest = await self.core.newestInboxID
        let promise = Promise<Bool>()
        guard let id = self.machine.requests.waitForDelivery(upTo: newest, promise) else { return true }
        let result = await promise.wait(milliseconds, self.clock) ?? false
        self.machine.requests.cancelDeliveryWait(id)
        return result
    }

    /// Notes that the core's event was sent to clients, or is held until a command's reply.
    func noteDelivered(_ inboxID: Int64) {
        for promise in self.machine.requests.delivered(inboxID) { promise.fulfill(true) }
    }

    /// Waits until a relay has accepted the message.
    func waitForDelivery(of messageID: EventID) async throws(DaemonFailure) {
        let promise = Promise<AppState.Delivery>()
        if let known = self.machine.deliveries.result(of: messageID, or: promise) { promise.fulfill(known) }
        switch await promise.wait(self.machine.settings.commandPatience, self.clock) {
        case .sent, .received: return
        case .failed(let reason): throw DaemonFailure(.publishFailed, reason)
        case .pending, nil:
            throw DaemonFailure(.publishFailed, "no relay accepted the message in time; it stays queued")
        }
    }
}
