import PikaCore

/// Requests in flight to the core, and commands that wait for a state or for the delivery of events. Pure: the caller
/// fulfills the promises that it returns.
struct PendingRequests: Sendable {
    private let scope: String
    /// Number of requests and waits so far.
    private var count = 0
    private var outcomes: [RequestID: Promise<ActionOutcome>] = [:]
    private var conditions: [Int: (isMet: @Sendable (AppState) -> Bool, promise: Promise<Bool>)] = [:]
    /// Inbox id of the newest event of the core that was delivered to clients.
    private var deliveredInboxID: Int64 = 0
    private var deliveries: [Int: (inboxID: Int64, promise: Promise<Bool>)] = [:]

    init(scope: String) {
        self.scope = scope
    }

    // MARK: Outcomes

    /// Registers a request. The core performs requests under the same key once.
    ///
    /// - Parameter id: the id of an action whose outcome is reported as an event too.
    mutating func open(
        key: String? = nil, reportedAs id: ActionID? = nil, _ promise: Promise<ActionOutcome>
    ) -> RequestID {
        self.count += 1
        let request =
            key.map { RequestID.once("\(self.scope)/\($0)") } ?? id.map { RequestID.command($0) }
            ?? RequestID(rawValue: "\(self.scope)/\(self.count)")
        self.outcomes[request] = promise
        return request
    }

    mutating func close(_ request: RequestID) -> Promise<ActionOutcome>? { self.outcomes.removeValue(forKey: request) }

    // MARK: Conditions on the state

    mutating func wait(_ promise: Promise<Bool>, until isMet: @escaping @Sendable (AppState) -> Bool) -> Int {
        self.count += 1
        self.conditions[self.count] = (isMet, promise)
        return self.count
    }

    mutating func cancelWait(_ id: Int) { self.conditions[id] = nil }

    /// Returns the promises whose condition the state meets.
    mutating func met(by state: AppState) -> [Promise<Bool>] {
        let met = self.conditions.filter { $0.value.isMet(state) }
        for id in met.keys { self.conditions[id] = nil }
        return met.values.map(\.promise)
    }

    // MARK: Delivery of the core's events

    /// Registers a wait until every event of the core up to this one is delivered; returns nil if it is already.
    mutating func waitForDelivery(upTo inboxID: Int64, _ promise: Promise<Bool>) -> Int? {
        guard self.deliveredInboxID < inboxID else { return nil }
        self.count += 1
        self.deliveries[self.count] = (inboxID, promise)
        return self.count
    }

    mutating func cancelDeliveryWait(_ id: Int) { self.deliveries[id] = nil }

    /// Notes that the core's event was sent to clients, or is held until a command's reply. Returns the promises that
    /// waited for it.
    mutating func delivered(_ inboxID: Int64) -> [Promise<Bool>] {
        self.deliveredInboxID = max(self.deliveredInboxID, inboxID)
        let done = self.deliveries.filter { $0.value.inboxID <= self.deliveredInboxID }
        for id in done.keys { self.deliveries[id] = nil }
        return done.values.map(\.promise)
    }

    // MARK: End

    /// Returns every promise, at the end.
    func end() -> (outcomes: [Promise<ActionOutcome>], waits: [Promise<Bool>]) {
        (Array(self.outcomes.values), self.conditions.values.map(\.promise) + self.deliveries.values.map(\.promise))
    }
}
