import GRDB
import Nostr

/// A filter as one or more SELECT statements, each of which one index serves in the order of the answer.
///
/// A filter with several values in its narrowest field becomes one statement per value, because an index brings
/// rows newest first for one value at a time; with many values SQLite sorts what one statement finds.
struct FilterQuery: Hashable, Sendable {
    /// FROM, with the WHERE conditions.
    private let source: String
    private let conditions: [String]
    private let arguments: [DatabaseValue]
    /// The column alias whose `created_at` the driving index holds.
    private let driver: String

    /// Statements that together find the filter's events; an event may come from more than one.
    ///
    /// - Parameter now: Unix seconds; what has expired by then is not found.
    static func queries(for filter: Filter, now: Int64) -> [FilterQuery] {
        let rest = FilterConditions(filter, now: now)
        if filter.ids != nil { return [FilterQuery(rest.all(), from: "event e", driver: "e")] }
        if let name = rest.narrowestTag { return tagQueries(filter, name, rest) }
        let authors = filter.authors?.map { [$0] }
        let kinds = filter.kinds?.map { [$0] }
        let branches = (authors?.count ?? 1).multipliedReportingOverflow(by: kinds?.count ?? 1)
        guard !branches.overflow, branches.partialValue <= mostBranches else {
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

    private static let mostBranches = 16

    private static func tagQueries(_ filter: Filter, _ name: String, _ rest: FilterConditions) -> [FilterQuery] {
        let values = filter.tags[name] ?? []
        guard let number = name.indexedTagName, values.count <= mostBranches else {
            return [FilterQuery(rest.all(), from: "event e", driver: "e")]
        }
        return Set(values).map { value in
            var conditions = rest.all(except: name, time: "t")
            conditions.add("t.name = ? AND t.value = ?", [number.databaseValue, value.data.databaseValue])
            // CROSS JOIN keeps SQLite from starting at the event table.
            return FilterQuery(conditions, from: "tag t CROSS JOIN event e ON e.seq = t.seq", driver: "t")
        }
    }

    private init(_ conditions: SQLConditions, from source: String, driver: String) {
        self.source = source
        self.conditions = conditions.terms
        arguments = conditions.arguments
        self.driver = driver
    }

    /// Selects `created_at`, `id`, `seq`: newest first, of equally old events the lowest id first (NIP-01).
    func page(limit: Int) -> (sql: String, arguments: StatementArguments) {
        let sql = """
            SELECT e.created_at, e.id, e.seq \(body) ORDER BY \(driver).created_at DESC, e.id LIMIT ?
            """
        return (sql, StatementArguments(arguments + [limit.databaseValue]))
    }

    /// Selects `seq` of everything found.
    var places: (sql: String, arguments: StatementArguments) {
        ("SELECT e.seq \(body)", StatementArguments(arguments))
    }

    /// Selects the number of events found.
    var count: (sql: String, arguments: StatementArguments) {
        ("SELECT count(*) \(body)", StatementArguments(arguments))
    }

    private var body: String {
        "FROM \(source) WHERE \(conditions.joined(separator: " AND "))"
    }
}
