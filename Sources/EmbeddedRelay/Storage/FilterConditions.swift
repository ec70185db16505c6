import GRDB
import Nostr

/// SQL conditions joined by AND, and their arguments in order.
struct SQLConditions: Sendable {
    private(set) var terms: [String] = []
    private(set) var arguments: [DatabaseValue] = []

    mutating func add(_ term: String, _ values: [DatabaseValue] = []) {
        terms.append(term)
        arguments += values
    }

    mutating func add(_ column: String, among values: [DatabaseValue]) {
        if values.count == 1 { return add("\(column) = ?", values) }
        add("\(column) IN (\(Self.marks(values.count)))", values)
    }

    static func marks(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ",")
    }
}

/// A filter's fields as conditions on the event table `e`.
struct FilterConditions: Sendable {
    private let filter: Filter
    private let now: UnixTime

    init(_ filter: Filter, now: UnixTime) {
        self.filter = filter
        self.now = now
    }

    /// The filter's tag with the fewest values.
    var narrowestTag: String? {
        filter.tags.min { ($0.value.count, $0.key) < ($1.value.count, $1.key) }?.key
    }

    /// - Parameters:
    ///   - omitted: a tag name for which the caller already has a condition.
    ///   - time: alias of the table whose index on `created_at` is scanned.
    func all(except omitted: String? = nil, time: String = "e") -> SQLConditions {
        var conditions = SQLConditions()
        conditions.add("(e.expires_at IS NULL OR e.expires_at > ?)", [now.seconds.databaseValue])
        if let since = filter.since { conditions.add("\(time).created_at >= ?", [since.seconds.databaseValue]) }
        if let until = filter.until { conditions.add("\(time).created_at <= ?", [until.seconds.databaseValue]) }
        if let ids = filter.ids { conditions.add("e.id", among: ids.map(\.data.databaseValue)) }
        if let authors = filter.authors { conditions.add("e.pubkey", among: authors.map(\.data.databaseValue)) }
        if let kinds = filter.kinds { conditions.add("e.kind", among: kinds.map(\.rawValue.databaseValue)) }
        for (name, values) in filter.tags where name != omitted {
            add(name, values, to: &conditions)
        }
        return conditions
    }

    private func add(_ name: String, _ values: [String], to conditions: inout SQLConditions) {
        // A tag name that is not indexed matches nothing.
        guard let number = name.indexedTagName else { return conditions.add("0") }
        conditions.add(
            "e.seq IN (SELECT seq FROM tag WHERE name = ? AND value IN (\(SQLConditions.marks(values.count))))",
            [number.databaseValue] + values.map(\.data.databaseValue))
    }
}
