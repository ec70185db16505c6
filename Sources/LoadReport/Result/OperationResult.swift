/// One operation over the whole run.
public struct OperationResult: Codable, Equatable, Sendable {
    /// The short name (`join`), as in thresholds.
    public var name: String
    /// What it is, in words.
    public var title: String
    /// What it belongs to: `group`, `message` …
    public var family: String
    /// How often it succeeded.
    public var count: Int
    /// How often it failed.
    public var failures: Int
    public var failureReasons: [FailureReason]
    /// Successes for each second of the plan's stages, or of the whole run if it has none.
    public var rate: Double
    /// From the intended start to the end, so with the time waited for a turn; nil when nothing succeeded.
    public var latency: LatencySummary?
    /// From the actual start to the end; nil when that is the same.
    public var service: LatencySummary?

    public init(
        name: String, title: String, family: String, count: Int, failures: Int, failureReasons: [FailureReason],
        rate: Double, latency: LatencySummary?, service: LatencySummary?
    ) {
        self.name = name
        self.title = title
        self.family = family
        self.count = count
        self.failures = failures
        self.failureReasons = failureReasons
        self.rate = rate
        self.latency = latency
        self.service = service
    }

    /// How often it was tried.
    public var attempts: Int { count + failures }
}

/// Why something failed, and how often.
public struct FailureReason: Codable, Equatable, Sendable {
    public var reason: String
    public var count: Int
    public var firstSeen: WallTime
    public var lastSeen: WallTime

    public init(reason: String, count: Int, firstSeen: WallTime, lastSeen: WallTime) {
        self.reason = reason
        self.count = count
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
    }
}

extension FailureReasons {
    /// The reasons, the commonest first.
    func reasons(since start: WallTime) -> [FailureReason] {
        tallies.map { reason, tally in
            FailureReason(
                reason: reason, count: tally.count,
                firstSeen: start.advanced(by: .nanoseconds(Int64(clamping: tally.first))),
                lastSeen: start.advanced(by: .nanoseconds(Int64(clamping: tally.last))))
        }
        .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }
}
