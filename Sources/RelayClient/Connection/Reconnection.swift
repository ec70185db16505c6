/// Decides when to connect again, from consecutive failures and from how recently the relay worked.
///
/// A relay has worked once it ends the stored events of a request or accepts an event. That resets the back-off, but at
/// most ``maximumResets`` times within ``resetPeriod``, because a relay that answers and hangs up could otherwise make its
/// clients reconnect every second.
struct Reconnection: Hashable {
    static let maximumResets = 10
    static let resetPeriod = Duration.seconds(600)
    /// Maximum wait while an event is queued.
    static let longestWaitWithEvents = Duration.seconds(2)
    /// Number of failures that flooding counts as.
    static let floodPenalty = 5

    private let backoff: Backoff
    private let stableAfter: Duration
    /// Consecutive failures.
    private(set) var failures = 0
    private var hasAnswered = false
    private var workedAt: Duration?
    private var resets: [Duration] = []
    private var failedAt = Duration.zero
    private var dueAt = Duration.zero

    init(_ configuration: TransportConfiguration) {
        backoff = configuration.backoff
        stableAfter = configuration.stableAfter
    }

    /// Notes that the relay has worked on this connection.
    mutating func answered() { hasAnswered = true }

    /// Notes the end of an attempt or connection that has no successor.
    mutating func ended(connectedAt: Duration?, now: Duration) {
        note(connectedAt: connectedAt, now: now)
    }

    /// Notes the end of an attempt or connection, and returns the wait before the next attempt.
    ///
    /// - Parameters:
    ///   - connectedAt: The time when the connection began; nil if the attempt failed.
    ///   - isFlood: Whether the connection was dropped because the relay flooded it.
    ///   - hasEvents: Whether an event is queued.
    mutating func failed(
        connectedAt: Duration?, isFlood: Bool, hasEvents: Bool, now: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        if isFlood {
            hasAnswered = false
            workedAt = nil
            failures += Self.floodPenalty
        } else {
            note(connectedAt: connectedAt, now: now)
        }
        failures = min(failures + 1, 1 << 20)
        let isProven = workedAt.map { now - $0 <= backoff.provenFor } ?? false
        var wait = backoff.delay(afterFailures: failures, isProven: isProven, using: &generator)
        if hasEvents, !isFlood { wait = min(wait, Self.longestWaitWithEvents) }
        (failedAt, dueAt) = (now, now + wait)
        return wait
    }

    /// Moves the next attempt forward, because an event is queued.
    ///
    /// - Returns: The new wait, zero for at once; nil if the planned attempt stays. Attempts stay ``Backoff/base``
    ///   apart.
    mutating func advanceAttempt(now: Duration) -> Duration? {
        let earliest = max(now, failedAt + min(backoff.base, Self.longestWaitWithEvents))
        guard earliest < dueAt else { return nil }
        dueAt = earliest
        return earliest - now
    }

    private mutating func note(connectedAt: Duration?, now: Duration) {
        defer { hasAnswered = false }
        if hasAnswered { workedAt = now }
        if let connectedAt, now - connectedAt >= stableAfter {
            failures = 0
        } else if hasAnswered {
            resets.removeAll { now - $0 >= Self.resetPeriod }
            guard resets.count < Self.maximumResets else { return }
            resets.append(now)
            failures = 0
        }
    }
}
