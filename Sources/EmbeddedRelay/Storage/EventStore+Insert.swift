import Foundation
import GRDB
import Nostr

extension EventStore {
    /// Writes one event inside the caller's transaction.
    ///
    /// - Parameters:
    ///   - sequence: the event's sequence number if it is stored; unused otherwise.
    ///   - isFull: whether new events are refused; duplicates are still recognised.
    func insert(
        _ event: Event, json: [UInt8], sequence: Int64, isFull: Bool = false, _ database: Database
    ) throws -> StoreOutcome {
        if isFull { return try contains(event.id, database) ? .duplicate : .full }
        if event.kind != .deletion, try isDeleted(event, database) { return .deleted }
        if let address = event.address, let outcome = try makeRoom(for: event, at: address, database) { return outcome }
        guard try insertRow(event, json: json, sequence: sequence, database) else { return .duplicate }
        try insertTags(event, sequence: sequence, database)
        if event.kind == .deletion { try delete(Deletion(event), by: event, database) }
        return .stored(sequence: sequence)
    }

    private func contains(_ id: EventID, _ database: Database) throws -> Bool {
        let select = try database.cachedStatement(sql: "SELECT 1 FROM event WHERE id = ?")
        return try Row.fetchOne(select, arguments: [id.data]) != nil
    }

    /// Removes the older version of a replaceable or addressable event. Returns the outcome if the new one must not be
    /// stored, otherwise nil.
    private func makeRoom(
        for event: Event, at address: EventAddress, _ database: Database
    ) throws -> StoreOutcome? {
        let select = try database.cachedStatement(
            sql: "SELECT seq, id, created_at FROM event WHERE pubkey = ? AND kind = ? AND identifier = ?")
        let arguments: StatementArguments = [address.pubkey.data, address.kind.rawValue, address.identifier.data]
        guard let row = try Row.fetchOne(select, arguments: arguments) else { return nil }
        let id: Data = row[1]
        let createdAt = UnixTime(row[2])
        if id == event.id.data { return .duplicate }
        // NIP-01: the newest version stays; of equally old ones, that with the lowest id.
        let isNewer = event.createdAt > createdAt || event.createdAt == createdAt && event.id.data.precedes(id)
        guard isNewer else { return .superseded }
        let delete = try database.cachedStatement(sql: "DELETE FROM event WHERE seq = ?")
        try delete.execute(arguments: [row[0] as Int64])
        return nil
    }

    private func insertRow(
        _ event: Event, json: [UInt8], sequence: Int64, _ database: Database
    ) throws -> Bool {
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO event (seq, id, pubkey, kind, created_at, expires_at, identifier, json)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
                """)
        let arguments: StatementArguments = [
            sequence, event.id.data, event.pubkey.data, event.kind.rawValue, event.createdAt.seconds,
            event.expiration?.seconds,
            event.address?.identifier.data, Data(json),
        ]
        try insert.execute(arguments: arguments)
        return database.changesCount == 1
    }

    private func insertTags(_ event: Event, sequence: Int64, _ database: Database) throws {
        let insert = try database.cachedStatement(
            sql: "INSERT INTO tag (name, value, created_at, seq) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
        for tag in event.tags {
            guard let name = tag.name.indexedTagName, let value = tag.value else { continue }
            try insert.execute(arguments: [name, value.data, event.createdAt.seconds, sequence])
        }
    }

    private func isDeleted(_ event: Event, _ database: Database) throws -> Bool {
        let byID = try database.cachedStatement(sql: "SELECT 1 FROM deleted_event WHERE id = ? AND pubkey = ?")
        if try Row.fetchOne(byID, arguments: [event.id.data, event.pubkey.data]) != nil { return true }
        guard let address = event.address else { return false }
        let byAddress = try database.cachedStatement(
            sql: "SELECT 1 FROM deleted_address WHERE pubkey = ? AND kind = ? AND identifier = ? AND up_to >= ?")
        let arguments: StatementArguments = [
            address.pubkey.data, address.kind.rawValue, address.identifier.data, event.createdAt.seconds,
        ]
        return try Row.fetchOne(byAddress, arguments: arguments) != nil
    }

    /// Applies a deletion (NIP-09): only to the author's own events; deleting a deletion has no effect.
    private func delete(_ targets: Deletion, by event: Event, _ database: Database) throws {
        let author = event.pubkey.data
        for id in targets.eventIDs {
            try database.execute(
                sql: "INSERT INTO deleted_event (id, pubkey) VALUES (?, ?) ON CONFLICT DO NOTHING",
                arguments: [id.data, author])
            try database.execute(
                sql: "DELETE FROM event WHERE id = ? AND pubkey = ? AND kind != ?",
                arguments: [id.data, author, Kind.deletion.rawValue])
        }
        for address in targets.addresses where address.pubkey == event.pubkey {
            let key: StatementArguments = [
                author, address.kind.rawValue, address.identifier.data, event.createdAt.seconds,
            ]
            try database.execute(
                sql: """
                    INSERT INTO deleted_address (pubkey, kind, identifier, up_to) VALUES (?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET up_to = max(up_to, excluded.up_to)
                    """, arguments: key)
            try database.execute(
                sql: "DELETE FROM event WHERE pubkey = ? AND kind = ? AND identifier = ? AND created_at <= ?",
                arguments: key)
        }
    }
}
