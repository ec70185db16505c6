/// Result of one operation over the whole run.
package struct OperationResult: Codable, Equatable, Sendable {
    /// The short name (`join`), as in thresholds.
    package var name: String
    /// Description for people.
    package var title: String
    /// Group of operations: `group`, `message` …
    package var family: String
    /// Number of successes.
    package var count: Int
    /// Number of failures.
    package var failures: Int
    package var failureReasons: [FailureReason]
    /// Successes per second of the plan's stages, or of the whole run without stages.
    package var rate: Double
    /// From the intended start to the end, including the wait for the start; nil without a success.
    package var latency: LatencySummary?
    /// From the actual start to the end; nil if it equals the latency.
    package var service: LatencySummary?

    package init(
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

    /// Number of attempts.
    package var attempts: Int { count + failures }
}

/// A failure reason and its count.
package struct FailureReason: Codable, Equatable, Sendable {
    package var reason: String
    package var count: Int
    package var firstSeen: WallTime
    package var lastSeen: WallTime

    package init(reason: String, count: Int, firstSeen: WallTime, lastSeen: WallTime) {
        self.reason = reason
        self.count = count
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
    }
}

extension FailureReasons {
    /// Returns the reasons, most frequent first.
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
