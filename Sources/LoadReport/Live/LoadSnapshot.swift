import Synchronization

/// How a run stands at a moment, for people who watch it.
public struct LoadSnapshot: Equatable, Sendable {
    /// One operation so far.
    public struct Operation: Equatable, Sendable {
        public var operation: LoadOperation
        public var count: Int
        public var failures: Int
        /// Successes a second in the last seconds.
        public var recentRate: Double
        /// Of the run so far as it was measured, in seconds, nothing filled in; nil when nothing succeeded.
        public var p50: Double?
        public var p95: Double?
        public var p99: Double?

        public init(
            operation: LoadOperation, count: Int, failures: Int, recentRate: Double, p50: Double?, p95: Double?,
            p99: Double?
        ) {
            self.operation = operation
            self.count = count
            self.failures = failures
            self.recentRate = recentRate
            self.p50 = p50
            self.p95 = p95
            self.p99 = p99
        }
    }

    /// Seconds of the run.
    public var elapsed: Double
    /// When the last stage of the plan is to end, in seconds; nil when nobody knows.
    public var planned: Double?
    public var gauges: [LoadGauge: Double]
    public var operations: [Operation]
    public var correctness: LoadCorrectness
    /// The generator's lag, p99 in seconds; nil when nothing had an intended start.
    public var lag: Double?
    /// Faults that are in force now.
    public var faults: [String]

    public init(
        elapsed: Double, planned: Double?, gauges: [LoadGauge: Double], operations: [Operation],
        correctness: LoadCorrectness, lag: Double?, faults: [String]
    ) {
        self.elapsed = elapsed
        self.planned = planned
        self.gauges = gauges
        self.operations = operations
        self.correctness = correctness
        self.lag = lag
        self.faults = faults
    }
}

extension LoadRecorder {
    /// How the run stands; percentiles of everything so far, rates of the last five seconds.
    ///
    /// - Parameter planned: When the last stage of the plan is to end.
    public func snapshot(at moment: Duration, planned: Duration? = nil) -> LoadSnapshot {
        let now = moment.loadNanoseconds
        let tallies = tallies.withLock { $0 }
        let seconds = now.loadSeconds
        let faults = tallies.faults.filter { $0.from <= seconds && seconds < $0.to ?? $0.from }
        return LoadSnapshot(
            elapsed: seconds, planned: planned?.loadNanoseconds.loadSeconds, gauges: tallies.current,
            operations: LoadOperation.allCases.compactMap { tracks[$0.rawValue].current.snapshot(of: $0, at: now) },
            correctness: tallies.correctness, lag: tallies.lag.percentile(99)?.loadSeconds,
            faults: faults.map { $0.action + " " + $0.target })
    }
}

extension OperationTrack.State {
    fileprivate func snapshot(of operation: LoadOperation, at now: UInt64) -> LoadSnapshot.Operation? {
        guard isTried else { return nil }
        return LoadSnapshot.Operation(
            operation: operation, count: successes, failures: failures.total, recentRate: recentRate(at: now),
            p50: latency.percentile(50)?.loadSeconds, p95: latency.percentile(95)?.loadSeconds,
            p99: latency.percentile(99)?.loadSeconds)
    }

    /// Over the last five seconds that are over, or the last slot when slots are longer.
    private func recentRate(at now: UInt64) -> Double {
        let second = Int(now / 1_000_000_000)
        let end = second / slots.width
        let start = max(0, end - max(1, 5 / slots.width))
        guard end > start else { return now > 0 ? Double(successes) / now.loadSeconds : 0 }
        let counted = slots.slots.indices.clamped(to: start..<end).reduce(0) { $0 + slots.slots[$1].counts.total }
        return Double(counted) / Double((end - start) * slots.width)
    }
}
