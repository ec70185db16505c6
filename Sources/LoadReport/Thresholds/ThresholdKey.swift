/// The value that a threshold checks: a statistic of an operation, or a value of the whole run.
package enum ThresholdKey: Hashable, Sendable {
    /// A statistic of an operation, of the generator's lag, or of another timed value.
    package enum Statistic: Hashable, Sendable {
        case percentile(LoadPercentile)
        case min, mean, max
        case count, failures, rate
    }

    case operation(LoadOperation, Statistic)
    /// The generator's lag.
    case lag(Statistic)
    /// Delivered per expected.
    case delivery
    /// In order per delivered.
    case order
    /// Duplicates per delivery.
    case duplicates
    /// Number of members that disagree with their group.
    case divergence
    /// Joined per planned members.
    case joins
    /// Number of commits that lost a race.
    case conflicts
}

extension ThresholdKey {
    /// All keys.
    package static let all: [ThresholdKey] =
        whole
        + LoadOperation.allCases.flatMap { operation in
            Statistic.all.map { .operation(operation, $0) }
        }
        + Statistic.timed.map { .lag($0) }

    static let whole: [ThresholdKey] = [.delivery, .order, .duplicates, .divergence, .joins, .conflicts]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The key in a plan: `join.p95`, `delivery`.
    package var name: String {
        switch self {
        case .operation(let operation, let statistic): operation.name + "." + statistic.name
        case .lag(let statistic): "lag." + statistic.name
        case .delivery: "delivery"
        case .order: "order"
        case .duplicates: "duplicates"
        case .divergence: "divergence"
        case .joins: "joins"
        case .conflicts: "conflicts"
        }
    }

    /// Parses a key.
    package init(_ name: String) throws(LoadReportError) {
        guard let key = Self.byName[name] else { throw Self.unknown(name) }
        self = key
    }

    var unit: ThresholdUnit {
        switch self {
        case .operation(_, let statistic), .lag(let statistic): statistic.unit
        case .delivery, .order, .duplicates, .joins: .ratio
        case .divergence, .conflicts: .count
        }
    }

    private static func unknown(_ name: String) -> LoadReportError {
        let known =
            "an operation and a statistic of it (join.p95), lag.p99, \(whole.map(\.name).joined(separator: ", "))"
        let shown = String(name.prefix(60))
        return LoadReportError(
            .unknownKey,
            "unknown threshold \"\(shown)\": expected \(known); did you mean \"\(nearest(to: shown))\"?")
    }

    /// Returns the most similar key; only those with the same first word, if that is a known one.
    private static func nearest(to name: String) -> String {
        let names = all.map(\.name)
        let alike = names.filter { $0.hasPrefix(name.prefix { $0 != "." } + ".") }
        let found = (alike.isEmpty ? names : alike).map { ($0, editDistance(name, $0)) }.min { $0.1 < $1.1 }
        return found?.0 ?? "delivery"
    }
}

extension ThresholdKey.Statistic {
    static let timed: [Self] = LoadPercentile.allCases.map { .percentile($0) } + [.min, .mean, .max]
    static let all: [Self] = timed + [.count, .failures, .rate]

    var name: String {
        switch self {
        case .percentile(let percentile): percentile.rawValue
        case .min: "min"
        case .mean: "mean"
        case .max: "max"
        case .count: "count"
        case .failures: "failures"
        case .rate: "rate"
        }
    }

    var unit: ThresholdUnit {
        switch self {
        case .percentile, .min, .mean, .max: .seconds
        case .count, .failures: .count
        case .rate: .perSecond
        }
    }
}

/// Returns the edit distance (Levenshtein) of two words.
func editDistance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left.lowercased()), Array(right.lowercased()))
    var row = Array(0...right.count)
    for (index, letter) in left.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for (column, other) in right.enumerated() {
            let changed = diagonal + (letter == other ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
        }
    }
    return row[right.count]
}
