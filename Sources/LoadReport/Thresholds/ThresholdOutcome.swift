/// Evaluation of a threshold.
package struct ThresholdOutcome: Codable, Equatable, Sendable {
    package var key: String
    /// The condition as written, such as `< 3s`.
    package var condition: String
    package var unit: ThresholdUnit
    /// The measured value in the key's unit; nil if it was never measured.
    package var value: Double?
    package var passed: Bool
    /// The measured value as text, such as `2.31 s`, or the reason why it is missing.
    package var found: String

    package init(
        key: String, condition: String, unit: ThresholdUnit, value: Double?, passed: Bool, found: String
    ) {
        self.key = key
        self.condition = condition
        self.unit = unit
        self.value = value
        self.passed = passed
        self.found = found
    }
}

extension LoadThreshold {
    /// Evaluates the threshold. A value that was never measured fails, whatever the condition.
    package func judge(_ result: LoadResult) -> ThresholdOutcome {
        let value = key.value(in: result)
        return ThresholdOutcome(
            key: key.name, condition: condition, unit: key.unit, value: value,
            passed: value.map { comparison.holds($0, bound) } ?? false,
            found: value.map(key.unit.text) ?? "never measured: \(key.whyUnmeasured(in: result))")
    }
}

extension ThresholdKey {
    /// Returns the value; nil if it was never measured.
    func value(in result: LoadResult) -> Double? {
        let correctness = result.correctness
        return switch self {
        case .operation(let operation, let statistic): statistic.value(result.operation(operation))
        case .lag(let statistic): result.generator.lag.flatMap(statistic.value)
        case .delivery: correctness.deliveryRatio
        case .order: correctness.orderRatio
        case .duplicates: correctness.duplicateRatio
        case .divergence: correctness.compared > 0 ? Double(correctness.diverged) : nil
        case .joins: result.funnel.joinRatio
        case .conflicts: result.hasCommits ? Double(correctness.conflicts) : nil
        }
    }

    fileprivate func whyUnmeasured(in result: LoadResult) -> String {
        switch self {
        case .operation(let operation, _):
            guard let found = result.operation(operation) else { return "\(operation.name) was not attempted" }
            return "\(operation.name) never succeeded, \(found.failures) failed"
        case .lag: return "no operation had an intended start"
        case .delivery: return "no delivery was expected"
        case .order, .duplicates: return "no message was delivered"
        case .divergence: return "no member was compared with its group"
        case .joins: return "no join was planned"
        case .conflicts: return "no commit was made"
        }
    }
}

extension ThresholdKey.Statistic {
    /// Returns a statistic of an operation; the count is 0 for an operation that was never attempted.
    fileprivate func value(_ operation: OperationResult?) -> Double? {
        switch self {
        case .count: Double(operation?.count ?? 0)
        case .rate: operation?.rate ?? 0
        case .failures: operation.map { Double($0.failures) }
        default: operation?.latency.flatMap(value)
        }
    }

    fileprivate func value(_ latency: LatencySummary) -> Double? {
        switch self {
        case .percentile(let percentile): latency.percentiles[percentile]
        case .min: latency.min
        case .mean: latency.mean
        case .max: latency.max
        case .count, .failures, .rate: nil
        }
    }
}

extension LoadResult {
    /// Whether there was a commit or a conflict.
    fileprivate var hasCommits: Bool {
        correctness.conflicts > 0 || LoadOperation.allCases.contains { $0.commits && operation($0)?.count ?? 0 > 0 }
    }
}
