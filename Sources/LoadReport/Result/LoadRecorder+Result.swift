import Synchronization

extension LoadRecorder {
    /// Returns the result of everything recorded until `moment`.
    ///
    /// - Parameters:
    ///   - cost: The generator's CPU time and memory over the run; its lag is added here.
    ///   - loaded: Duration of the plan's stages, the base of rates; nil uses the whole run.
    ///   - thresholds: Thresholds to evaluate; may be empty.
    package func result(
        _ run: LoadRun, cost: ProcessUsage, at moment: Duration, loaded: Duration? = nil,
        thresholds: [LoadThreshold] = []
    ) -> LoadResult {
        let tallies = tallies.withLock { $0 }
        let states = LoadOperation.allCases.map { ($0, tracks[$0.rawValue].current) }.filter { $0.1.isTried }
        let seconds = moment.loadNanoseconds.loadSeconds
        let rated = loaded?.loadNanoseconds.loadSeconds ?? seconds
        var result = LoadResult(
            run: run, endedAt: run.startedAt.advanced(by: moment), duration: seconds,
            generator: GeneratorCost(
                userSeconds: cost.userSeconds, systemSeconds: cost.systemSeconds, peakMemoryBytes: cost.peakMemoryBytes,
                lag: LatencySummary(tallies.lag)),
            operations: states.map { $1.result(of: $0, over: rated, since: run.startedAt) },
            funnel: tallies.funnel(since: run.startedAt), correctness: tallies.correctness,
            faults: tallies.faults.sorted { $0.from < $1.from },
            exceptions: tallies.exceptions.reasons(since: run.startedAt),
            gauges: tallies.gaugeResults, series: LoadSeries(states, tallies))
        result.thresholds = thresholds.map { $0.judge(result) }
        return result
    }
}

extension OperationTrack.State {
    var isTried: Bool { successes + failures.total > 0 }

    fileprivate func result(of operation: LoadOperation, over seconds: Double, since start: WallTime) -> OperationResult
    {
        OperationResult(
            name: operation.name, title: operation.title, family: operation.family, count: successes,
            failures: failures.total, failureReasons: failures.reasons(since: start),
            rate: seconds > 0 ? Double(successes) / seconds : 0,
            latency: LatencySummary(latency, closed: closed), service: service.flatMap { LatencySummary($0) })
    }
}

extension RunTallies {
    fileprivate func funnel(since start: WallTime) -> JoinFunnel {
        JoinFunnel(
            stages: JoinStage.allCases.map {
                JoinFunnel.Stage(
                    name: $0.name, count: reached[$0.rawValue], lost: lost[$0.rawValue].reasons(since: start))
            })
    }

    fileprivate var gaugeResults: [LoadGauge: GaugeResult] {
        var results: [LoadGauge: GaugeResult] = [:]
        for (gauge, last) in current { results[gauge] = GaugeResult(last: last, peak: peaks[gauge] ?? last) }
        return results
    }
}
