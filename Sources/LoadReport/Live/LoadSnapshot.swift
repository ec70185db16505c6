import Synchronization

/// State of a run at one moment, for observers.
package struct LoadSnapshot: Equatable, Sendable {
    /// One operation so far.
    package struct Operation: Equatable, Sendable {
        package var operation: LoadOperation
        package var count: Int
        package var failures: Int
        /// Successes per second over the last seconds.
        package var recentRate: Double
        /// Measured latency so far in seconds, without correction for coordinated omission; nil without a success.
        package var p50: Double?
        package var p95: Double?
        package var p99: Double?

        package init(
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

    /// Time since the start, in seconds.
    package var elapsed: Double
    /// Planned end of the last stage, in seconds; nil if it is unknown.
    package var planned: Double?
    package var gauges: [LoadGauge: Double]
    package var operations: [Operation]
    package var correctness: LoadCorrectness
    /// The generator's lag (p99) in seconds; nil when no operation had an intended start.
    package var lag: Double?
    /// Active faults.
    package var faults: [String]

    package init(
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
    /// Returns the state of the run: percentiles over the whole run so far, rates over the last five seconds.
    ///
    /// - Parameter planned: Planned end of the last stage.
    package func snapshot(at moment: Duration, planned: Duration? = nil) -> LoadSnapshot {
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

    /// Returns the rate over the last five complete seconds, or over the last slot when slots are longer.
    private func recentRate(at now: UInt64) -> Double {
        let second = Int(now / 1_000_000_000)
        let end = second / slots.width
        let start = max(0, end - max(1, 5 / slots.width))
        guard end > start else { return now > 0 ? Double(successes) / now.loadSeconds : 0 }
        let counted = slots.slots.indices.clamped(to: start..<end).reduce(0) { $0 + slots.slots[$1].counts.total }
        return Double(counted) / Double((end - start) * slots.width)
    }
}
