/// What a threshold is about: a statistic of an operation, or something of the whole run.
public enum ThresholdKey: Hashable, Sendable {
    /// One number of an operation, of the generator's lag, or of anything else that is timed.
    public enum Statistic: Hashable, Sendable {
        case percentile(LoadPercentile)
        case min, mean, max
        case count, failures, rate
    }

    case operation(LoadOperation, Statistic)
    /// How late the generator was.
    case lag(Statistic)
    /// Deliveries of those expected.
    case delivery
    /// Deliveries in order of all.
    case order
    /// Duplicates for each delivery.
    case duplicates
    /// Members that disagree with their group; a count.
    case divergence
    /// Members of those that were to be.
    case joins
    /// Commits that lost a race; a count.
    case conflicts
}

extension ThresholdKey {
    /// Every key there is.
    public static let all: [ThresholdKey] =
        whole
        + LoadOperation.allCases.flatMap { operation in
            Statistic.all.map { .operation(operation, $0) }
        }
        + Statistic.timed.map { .lag($0) }

    static let whole: [ThresholdKey] = [.delivery, .order, .duplicates, .divergence, .joins, .conflicts]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// As it is written in a plan: `join.p95`, `delivery`.
    public var name: String {
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

    /// The key of a name.
    public init(_ name: String) throws(LoadReportError) {
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
            "nothing called \"\(shown)\" is measured; expected \(known); did you mean \"\(nearest(to: shown))\"?")
    }

    /// Among those that begin with the same word, if it is a known one.
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

/// How many letters must be changed, added or dropped to make one word the other.
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
