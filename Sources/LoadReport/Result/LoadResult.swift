/// Everything that is known about a load run when it is over; what all reports are made from.
public struct LoadResult: Codable, Equatable, Sendable {
    /// The version of this shape in JSON. It changes when a reader of the one before would go wrong.
    public static let schemaVersion = 1

    public var schemaVersion = LoadResult.schemaVersion
    public var run: LoadRun
    public var endedAt: WallTime
    /// Seconds.
    public var duration: Double
    public var generator: GeneratorCost
    /// The operations that were tried, in the order of ``LoadOperation``.
    public var operations: [OperationResult]
    public var funnel: JoinFunnel
    public var correctness: LoadCorrectness
    public var faults: [LoadFault]
    /// What went wrong in the generator itself.
    public var exceptions: [FailureReason]
    /// The last value of each gauge, and the largest.
    public var gauges: [LoadGauge: GaugeResult]
    public var series: LoadSeries
    /// The thresholds as they were judged; empty when there are none.
    public var thresholds: [ThresholdOutcome] = [] {
        didSet { passed = thresholds.allSatisfy(\.passed) }
    }
    /// Whether every threshold holds.
    public private(set) var passed = true

    /// The result of an operation; nil when it was never tried.
    public func operation(_ operation: LoadOperation) -> OperationResult? {
        operations.first { $0.name == operation.name }
    }
}

/// A gauge at the end of the run.
public struct GaugeResult: Codable, Equatable, Sendable {
    public var last: Double
    public var peak: Double

    public init(last: Double, peak: Double) {
        self.last = last
        self.peak = peak
    }
}

/// What is known of a run beside what the recorder counted.
public struct LoadRun: Codable, Equatable, Sendable {
    /// A short name: the file's, say.
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
