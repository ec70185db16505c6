/// A condition that a run must meet to pass: `join.p95: "< 3s"`.
package struct LoadThreshold: Hashable, Sendable {
    package enum Comparison: String, CaseIterable, Sendable {
        case less = "<"
        case atMost = "<="
        case more = ">"
        case atLeast = ">="
        case equal = "=="
        case notEqual = "!="
    }

    package let key: ThresholdKey
    package let comparison: Comparison
    /// In the key's unit: seconds, a ratio, a count, or a rate per second.
    package let bound: Double
    /// The condition as it was written.
    package let condition: String

    /// - Throws: ``LoadReportError`` with the expectation, the finding and the fix.
    package init(key name: String, condition: String) throws(LoadReportError) {
        key = try ThresholdKey(name)
        let sign = condition.drop { $0 == " " }.prefix { "<>=!".contains($0) }
        let value = condition.drop { $0 == " " }.dropFirst(sign.count)
        let bare = String(value.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        guard let comparison = Comparison(rawValue: String(sign)) else {
            throw Self.noComparison(name, condition, sign: String(sign), value: bare, unit: key.unit)
        }
        do {
            bound = try key.unit.value(of: bare)
        } catch {
            throw Self.wrongValue(error, name, condition, comparison, value: bare, unit: key.unit)
        }
        self.comparison = comparison
        self.condition = sign + " " + bare
    }

    /// Parses all thresholds of a plan, sorted by name; reports all mistakes in one error.
    package static func all(_ conditions: [String: String]) throws(LoadReportError) -> [LoadThreshold] {
        var thresholds: [LoadThreshold] = []
        var errors: [LoadReportError] = []
        for (key, condition) in conditions.sorted(by: { $0.key < $1.key }) {
            do {
                thresholds.append(try LoadThreshold(key: key, condition: condition))
            } catch {
                errors.append(error)
            }
        }
        guard let first = errors.first else { return thresholds }
        throw LoadReportError(first.code, errors.map(\.message).joined(separator: "\n"))
    }

    private static func noComparison(
        _ name: String, _ condition: String, sign: String, value: String, unit: ThresholdUnit
    ) -> LoadReportError {
        let known = Comparison.allCases.map(\.rawValue).joined(separator: ", ")
        let suggested = unit.suggestion(for: value)
        return LoadReportError(
            .badCondition,
            "\(name): \"\(condition)\": expected one of \(known) and a value, found \(sign.isEmpty ? "none" : sign); "
                + "write \"\(unit == .seconds ? "<" : "==") \(suggested)\", for example")
    }

    private static func wrongValue(
        _ problem: ThresholdValueProblem, _ name: String, _ condition: String, _ comparison: Comparison, value: String,
        unit: ThresholdUnit
    ) -> LoadReportError {
        let code: LoadReportError.Code = problem == .wrongUnit ? .wrongUnit : .badCondition
        return LoadReportError(
            code,
            "\(name): \"\(condition)\": expected \(unit.expectation), found \"\(value)\"; "
                + "write \"\(comparison.rawValue) \(unit.suggestion(for: value))\", for example")
    }
}

extension LoadThreshold.Comparison {
    func holds(_ value: Double, _ bound: Double) -> Bool {
        switch self {
        case .less: value < bound
        case .atMost: value <= bound
        case .more: value > bound
        case .atLeast: value >= bound
        case .equal: value == bound
        case .notEqual: value != bound
        }
    }
}
