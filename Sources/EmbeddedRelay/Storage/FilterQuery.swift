import GRDB
import Nostr

/// A filter as one or more SELECT statements, each served by one index in the order of the answer.
///
/// A filter with several values in its narrowest field becomes one statement per value, because an index yields rows
/// newest first for a single value only. With many values, one statement finds all rows and SQLite sorts them.
struct FilterQuery: Hashable, Sendable {
    /// FROM clause, with the WHERE conditions.
    private let source: String
    private let conditions: [String]
    private let arguments: [DatabaseValue]
    /// Alias of the table whose index on `created_at` drives the query.
    private let driver: String

    /// Returns statements that together find the filter's events; an event may be found by more than one.
    ///
    /// Does not find events that have expired at `now`.
    static func queries(for filter: Filter, now: UnixTime) -> [FilterQuery] {
        let rest = FilterConditions(filter, now: now)
        if filter.ids != nil { return [FilterQuery(rest.all(), from: "event e", driver: "e")] }
        if let name = rest.narrowestTag { return tagQueries(filter, name, rest) }
        let authors = filter.authors?.map { [$0] }
        let kinds = filter.kinds?.map { [$0] }
        let branches = (authors?.count ?? 1).multipliedReportingOverflow(by: kinds?.count ?? 1)
        guard !branches.overflow, branches.partialValue <= maximumBranches else {
            return [FilterQuery(rest.all(), from: "event e", driver: "e")]
        }
        var queries: [FilterQuery] = []
        for author in authors.map({ $0.map(Optional.some) }) ?? [nil] {
            for kind in kinds.map({ $0.map(Optional.some) }) ?? [nil] {
                var one = filter
                one.authors = author
                one.kinds = kind
                queries.append(FilterQuery(FilterConditions(one, now: now).all(), from: "event e", driver: "e"))
            }
        }
        return queries
    }

    private static let maximumBranches = 16

    private static func tagQueries(_ filter: Filter, _ name: String, _ rest: FilterConditions) -> [FilterQuery] {
        let values = filter.tags[name] ?? []
        guard let number = name.indexedTagName, values.count <= maximumBranches else {
            return [FilterQuery(rest.all(), from: "event e", driver: "e")]
        }
        return Set(values).map { value in
            var conditions = rest.all(except: name, time: "t")
            conditions.add("t.name = ? AND t.value = ?", [number.databaseValue, value.data.databaseValue])
            // CROSS JOIN keeps SQLite from scanning the event table first.
            return FilterQuery(conditions, from: "tag t CROSS JOIN event e ON e.seq = t.seq", driver: "t")
        }
    }

    private init(_ conditions: SQLConditions, from source: String, driver: String) {
        self.source = source
        self.conditions = conditions.terms
        arguments = conditions.arguments
        self.driver = driver
    }

    /// Selects `created_at`, `id`, `seq`, newest first; equally old events are sorted by id (NIP-01).
    func page(limit: Int) -> (sql: String, arguments: StatementArguments) {
        let sql = """
            SELECT e.created_at, e.id, e.seq \(body) ORDER BY \(driver).created_at DESC, e.id LIMIT ?
            """
        return (sql, StatementArguments(arguments + [limit.databaseValue]))
    }

    /// Selects `seq` of every match.
    var positions: (sql: String, arguments: StatementArguments) {
        ("SELECT e.seq \(body)", StatementArguments(arguments))
    }

    /// Selects the number of matches.
    var count: (sql: String, arguments: StatementArguments) {
        ("SELECT count(*) \(body)", StatementArguments(arguments))
    }

    private var body: String {
        "FROM \(source) WHERE \(conditions.joined(separator: " AND "))"
    }
}
