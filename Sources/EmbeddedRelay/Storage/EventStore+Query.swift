import Foundation
import GRDB
import Nostr

/// The stored events for a REQ, newest first.
struct StoredAnswer: Hashable, Sendable {
    /// Events in their stored JSON.
    let events: [[UInt8]]
    /// The last sequence number that this answer covers.
    let snapshot: Int64
}

extension EventStore {
    /// Returns the events that match several filters, each within its own limit, without duplicates.
    func query(
        _ filters: [Filter], limits: RelayLimits, now: UnixTime,
        completion: @escaping @Sendable (Result<StoredAnswer, any Error>) -> Void
    ) {
        database.asyncRead { database in
            completion(Result { try Self.answer(filters, limits: limits, now: now, database.get()) })
        }
    }

    /// Counts the events that match any of several filters (NIP-45); ignores limits.
    func count(
        _ filters: [Filter], now: UnixTime, completion: @escaping @Sendable (Result<Int, any Error>) -> Void
    ) {
        database.asyncRead { database in
            completion(Result { try Self.count(filters, now: now, database.get()) })
        }
    }

    private static func answer(
        _ filters: [Filter], limits: RelayLimits, now: UnixTime, _ database: Database
    ) throws -> StoredAnswer {
        let snapshot = try snapshot(database)
        var found: [EventPosition] = []
        for filter in filters {
            let limit = min(filter.limit ?? limits.defaultEventsPerFilter, limits.eventsPerFilter)
            if limit > 0 { found += try positions(filter, limit: limit, now: now, database) }
        }
        if filters.count > 1 { found = sorted(found) }
        return StoredAnswer(events: try events(found, maximumBytes: limits.answerBytes, database), snapshot: snapshot)
    }

    private static func positions(
        _ filter: Filter, limit: Int, now: UnixTime, _ database: Database
    ) throws -> [EventPosition] {
        let queries = FilterQuery.queries(for: filter, now: now)
        var found: [EventPosition] = []
        for query in queries {
            let page = query.page(limit: limit)
            let rows = try Row.fetchCursor(database, sql: page.sql, arguments: page.arguments)
            while let row = try rows.next() {
                found.append(EventPosition(createdAt: UnixTime(row[0]), id: row[1], sequence: row[2]))
            }
        }
        return queries.count > 1 ? Array(sorted(found).prefix(limit)) : found
    }

    private static func sorted(_ positions: [EventPosition]) -> [EventPosition] {
        var seen = Set<Int64>()
        return positions.sorted(by: EventPosition.precedes).filter { seen.insert($0.sequence).inserted }
    }

    private static func events(
        _ positions: [EventPosition], maximumBytes: Int, _ database: Database
    ) throws -> [[UInt8]] {
        let select = try database.cachedStatement(sql: "SELECT json FROM event WHERE seq = ?")
        var events: [[UInt8]] = []
        var bytes = 0
        for position in positions {
            guard let row = try Row.fetchOne(select, arguments: [position.sequence]) else { continue }
            let json = try row.withUnsafeData(atIndex: 0) { $0.map { [UInt8]($0) } ?? [] }
            bytes += json.count
            if bytes > maximumBytes { break }
            events.append(json)
        }
        return events
    }

    private static func count(_ filters: [Filter], now: UnixTime, _ database: Database) throws -> Int {
        let queries = filters.flatMap { FilterQuery.queries(for: $0, now: now) }
        if queries.count == 1 {
            let count = queries[0].count
            return try Int.fetchOne(database, sql: count.sql, arguments: count.arguments) ?? 0
        }
        var found = Set<Int64>()
        for query in queries {
            let positions = query.positions
            found.formUnion(try Int64.fetchSet(database, sql: positions.sql, arguments: positions.arguments))
        }
        return found.count
    }
}

/// An event's position in the answer and in the store.
private struct EventPosition {
    let createdAt: UnixTime
    let id: Data
    let sequence: Int64

    static func precedes(_ left: EventPosition, _ right: EventPosition) -> Bool {
        left.createdAt != right.createdAt ? left.createdAt > right.createdAt : left.id.precedes(right.id)
    }
}
