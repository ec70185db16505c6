/// Queue of an outbox: which requests are to be sent now, retried, expired or finished.
///
/// A pure value; times are Unix milliseconds. Requests of one order key are sent one after the other. A known
/// idempotency key is never queued again, so that nothing is sent twice with different keys.
struct OutboxMachine: Sendable {
    struct Entry: Hashable, Sendable {
        let request: OutboxRequest
        let bytes: Int
        var attempts = 0
        var notBefore: Int64 = .min
        var isInFlight = false

        init(_ request: OutboxRequest) {
            self.request = request
            bytes = OutboxMachine.size(of: request)
        }

        var id: String { request.idempotencyKey }
        var expires: Int64 { request.expires.milliseconds }
    }

    enum Admission: Hashable, Sendable {
        case added
        /// The request is queued already, or finished recently.
        case known
        case full
        case expired
    }

    enum Verdict: Hashable, Sendable {
        case finished(OutboxOutcome.Result)
        case retry
    }

    /// Finished requests that are remembered by their idempotency key.
    static let maximumRemembered = 256

    private(set) var entries: [Entry] = []
    private(set) var remembered: [String] = []
    private(set) var bytes = 0
    let limits: OutboxLimits

    init(limits: OutboxLimits) { self.limits = limits }

    /// Restores what was stored.
    init(limits: OutboxLimits, requests: [OutboxRequest], remembered: [String]) {
        self.limits = limits
        self.remembered = remembered.suffix(Self.maximumRemembered)
        for request in requests { append(Entry(request)) }
    }

    static func size(of request: OutboxRequest) -> Int {
        let http = request.request
        let headers = http.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return http.url.utf8.count + http.body.count + headers + request.orderKey.utf8.count
            + request.idempotencyKey.utf8.count
    }

    /// Decides whether a request may be added.
    func admission(_ request: OutboxRequest, now: Int64) -> Admission {
        let id = request.idempotencyKey
        if remembered.contains(id) || entries.contains(where: { $0.id == id }) { return .known }
        guard request.expires.milliseconds > now else { return .expired }
        let most = min(limits.requests, 1_000)
        guard entries.count < most, Self.size(of: request) <= limits.bytes - bytes else { return .full }
        return .added
    }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.bytes
    }

    /// Returns the requests to send now, and marks them as in flight.
    mutating func begin(now: Int64) -> [Entry] {
        var inFlight = entries.filter { $0.isInFlight }.count
        var busy: Set<String> = []
        var begun: [Entry] = []
        for index in entries.indices {
            let entry = entries[index]
            // Only the first request of an order key may be sent.
            guard busy.insert(entry.request.orderKey).inserted, !entry.isInFlight, entry.notBefore <= now,
                entry.expires > now, inFlight < limits.inFlight
            else { continue }
            entries[index].isInFlight = true
            entries[index].attempts += 1
            inFlight += 1
            begun.append(entries[index])
        }
        return begun
    }

    /// Returns the expired requests, and marks them as in flight until ``finish(_:)``.
    mutating func expire(now: Int64) -> [Entry] {
        var expired: [Entry] = []
        for index in entries.indices where !entries[index].isInFlight && entries[index].expires <= now {
            entries[index].isInFlight = true
            expired.append(entries[index])
        }
        return expired
    }

    /// Decides on the end of an attempt, and plans the next one.
    ///
    /// - Parameter jitter: 0.5 to 1: the part of the wait that is used.
    mutating func ended(
        _ id: String, _ result: Result<BotHTTPResponse, BotError>, now: Int64, jitter: Double
    ) -> Verdict? {
        guard let index = entries.firstIndex(where: { $0.id == id }), entries[index].isInFlight else { return nil }
        var least = Duration.zero
        switch result {
        case .success(let response):
            guard Self.isTemporary(response.status) else { return .finished(.answered(response)) }
            least = min(response.retryAfter ?? .zero, .seconds(3_600))
        case .failure(let error):
            guard error.code != .signedOut, error.code != .unauthorized else { return .finished(.failed(error)) }
        }
        let wait = max(least, backoff(afterAttempts: entries[index].attempts) * jitter)
        entries[index].isInFlight = false
        entries[index].notBefore = now.clampedAdding(wait.wholeMilliseconds)
        return .retry
    }

    /// Removes a finished request, and remembers its key.
    mutating func finish(_ id: String) {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
        bytes -= entries[index].bytes
        entries.remove(at: index)
        remembered.append(id)
        if remembered.count > Self.maximumRemembered {
            remembered.removeFirst(remembered.count - Self.maximumRemembered)
        }
    }

    /// The next time after `now` at which a request is to be sent or expires; nil if there is none.
    func nextTime(after now: Int64) -> Int64? {
        var busy: Set<String> = []
        var times: [Int64] = []
        for entry in entries {
            let isFirst = busy.insert(entry.request.orderKey).inserted
            guard !entry.isInFlight else { continue }
            if isFirst { times.append(entry.notBefore) }
            times.append(entry.expires)
        }
        return times.filter { $0 > now }.min()
    }

    private func backoff(afterAttempts attempts: Int) -> Duration {
        var wait = min(limits.firstWait, limits.longestWait)
        for _ in 0..<min(max(0, attempts - 1), 32) {
            // Compares with half of the limit, so that doubling cannot overflow.
            if wait >= limits.longestWait / 2 { return limits.longestWait }
            wait *= 2
        }
        return wait
    }

    /// Statuses after which the same request may succeed: timeout, conflict of two attempts, too early, too many, and
    /// errors of the server (RFC 9110 §15, RFC 6585 §4).
    private static func isTemporary(_ status: Int) -> Bool {
        [408, 425, 429].contains(status) || (500...599).contains(status)
    }
}
