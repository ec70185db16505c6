/// Complete result of a finished load run; the source of all reports.
package struct LoadResult: Codable, Equatable, Sendable {
    /// Version of the JSON schema. Changes when readers of the previous version would misread it.
    package static let schemaVersion = 1

    package var schemaVersion = LoadResult.schemaVersion
    package var run: LoadRun
    package var endedAt: WallTime
    /// The duration of the run, in seconds.
    package var duration: Double
    package var generator: GeneratorCost
    /// The operations that were attempted, in the order of ``LoadOperation``.
    package var operations: [OperationResult]
    package var funnel: JoinFunnel
    package var correctness: LoadCorrectness
    package var faults: [LoadFault]
    /// Internal errors of the generator.
    package var exceptions: [FailureReason]
    /// Last and largest value of each gauge.
    package var gauges: [LoadGauge: GaugeResult]
    package var series: LoadSeries
    /// Evaluated thresholds; empty when there are none.
    package var thresholds: [ThresholdOutcome] = [] {
        didSet { passed = thresholds.allSatisfy(\.passed) }
    }
    /// Whether every threshold holds.
    package private(set) var passed = true

    /// Returns the result of an operation; nil if it was never attempted.
    package func operation(_ operation: LoadOperation) -> OperationResult? {
        operations.first { $0.name == operation.name }
    }
}

/// The last and the largest value of a gauge.
package struct GaugeResult: Codable, Equatable, Sendable {
    package var last: Double
    package var peak: Double

    package init(last: Double, peak: Double) {
        self.last = last
        self.peak = peak
    }
}

/// Metadata of a run.
package struct LoadRun: Codable, Equatable, Sendable {
    /// A short name, such as the file name.
    package var name: String
    package var seed: UInt64
    /// The plan as its author wrote it.
    package var plan: String
    package var startedAt: WallTime
    package var environment: LoadEnvironment
    package var stages: [LoadStage]

    package init(
        name: String, seed: UInt64, plan: String, startedAt: WallTime, environment: LoadEnvironment,
        stages: [LoadStage]
    ) {
        self.name = name
        self.seed = seed
        self.plan = plan
        self.startedAt = startedAt
        self.environment = environment
        self.stages = stages
    }
}
