/// Complete result of a finished load run; the source of all reports.
public struct LoadResult: Codable, Equatable, Sendable {
    /// Version of the JSON schema. Changes when readers of the previous version would misread it.
    public static let schemaVersion = 1

    public var schemaVersion = LoadResult.schemaVersion
    public var run: LoadRun
    public var endedAt: WallTime
    /// Seconds.
    public var duration: Double
    public var generator: GeneratorCost
    /// The operations that were attempted, in the order of ``LoadOperation``.
    public var operations: [OperationResult]
    public var funnel: JoinFunnel
    public var correctness: LoadCorrectness
    public var faults: [LoadFault]
    /// Internal errors of the generator.
    public var exceptions: [FailureReason]
    /// Last and largest value of each gauge.
    public var gauges: [LoadGauge: GaugeResult]
    public var series: LoadSeries
    /// Evaluated thresholds; empty when there are none.
    public var thresholds: [ThresholdOutcome] = [] {
        didSet { passed = thresholds.allSatisfy(\.passed) }
    }
    /// Whether every threshold holds.
    public private(set) var passed = true

    /// Returns the result of an operation; nil if it was never attempted.
    public func operation(_ operation: LoadOperation) -> OperationResult? {
        operations.first { $0.name == operation.name }
    }
}

/// Final values of a gauge.
public struct GaugeResult: Codable, Equatable, Sendable {
    public var last: Double
    public var peak: Double

    public init(last: Double, peak: Double) {
        self.last = last
        self.peak = peak
    }
}

/// Metadata of a run.
public struct LoadRun: Codable, Equatable, Sendable {
    /// A short name, such as the file name.
    public var name: String
    public var seed: UInt64
    /// The plan as its author wrote it.
    public var plan: String
    public var startedAt: WallTime
    public var environment: LoadEnvironment
    public var stages: [LoadStage]

    public init(
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
