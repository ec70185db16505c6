import Foundation
import GRDB
import Nostr
import PikaCore

/// The inbox, what handlers have not finished, and the outbox, what relays have not acknowledged.
extension Transaction {
    func put(_ row: InboxRow) throws {
        try self.execute(
            "INSERT INTO inbox (id, payload) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET payload = excluded.payload",
            [row.id, self.sealer.seal(row.payload, in: Place(.inbox, row.id))])
    }

    func inbox() throws -> [InboxRow] {
        try self.map("inbox", "SELECT id, payload FROM inbox ORDER BY id") { columns in
            let id = try columns.integer()
            return InboxRow(id: id, payload: try self.sealer.openBytes(try columns.data(), in: Place(.inbox, id)))
        }
    }

    // MARK: Outbox

    func put(_ row: OutboxRow) throws {
        guard row.event.createdAt >= 0 else {
            throw StoreError(.invalidChange, "an event before 1970 cannot be stored")
        }
        let lookup = self.outboxLookup(row.id)
        try self.execute(
            """
            INSERT INTO outbox (lookup, sequence, attempts, content) VALUES (?, ?, ?, ?)
            ON CONFLICT (lookup) DO NOTHING
            """,
            [
                Data(lookup), row.sequence, row.attempts,
                self.sealer.seal(Self.content(of: row), in: Place(.outbox, lookup)),
            ])
    }

    func countOutboxAttempt(_ id: String) throws {
        try self.execute(
            "UPDATE outbox SET attempts = attempts + 1 WHERE lookup = ?", [Data(self.outboxLookup(id))])
    }

    func deleteOutbox(_ id: String) throws {
        try self.execute("DELETE FROM outbox WHERE lookup = ?", [Data(self.outboxLookup(id))])
    }

    func outbox() throws -> [OutboxRow] {
        try self.map(
            "outbox", "SELECT lookup, sequence, attempts, content FROM outbox ORDER BY sequence, id"
        ) { columns in
            let place = Place(.outbox, try columns.bytes())
            let sequence = try columns.integer()
            let attempts = try columns.integer()
            var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
            return try Self.outboxRow(&fields, sequence: sequence, attempts: Int(attempts))
        }
    }

    private func outboxLookup(_ id: String) -> [UInt8] { self.sealer.lookup("outbox", Array(id.utf8)) }

    private static func content(of row: OutboxRow) -> [UInt8] {
        var writer = FieldWriter(capacity: 1536)
        writer.text(row.id)
        writer.text(row.purpose.rawValue)
        writer.optional(row.groupID)
        writer.optional(row.messageID?.bytes)
        writer.integer(UInt32(row.relays.count))
        for relay in row.relays { writer.text(relay.string) }
        writer.data(row.event.json())
        return writer.bytes
    }

    private static func outboxRow(
        _ fields: inout FieldReader, sequence: Int64, attempts: Int
    ) throws(StoreError) -> OutboxRow {
        let id = try fields.text()
        guard let purpose = OutboxRow.Purpose(rawValue: try fields.text()) else {
            throw fields.place.corrupt("an unknown purpose")
        }
        let groupID = try fields.optional()
        let messageID = try fields.optionalEventID()
        var relays: [RelayURL] = []
        for _ in 0..<(try fields.integer(UInt32.self)) { relays.append(try fields.relay()) }
        let event = try fields.event()
        try fields.finish()
        return OutboxRow(
            id: id, sequence: sequence, event: event, relays: relays, purpose: purpose, groupID: groupID,
            messageID: messageID, attempts: attempts)
    }
}

extension FieldReader {
    fileprivate mutating func optionalEventID() throws(StoreError) -> EventID? {
        guard let bytes = try self.optional() else { return nil }
        do { return try EventID(bytes: bytes) } catch { throw self.place.corrupt("an event id", cause: error) }
    }

    fileprivate mutating func relay() throws(StoreError) -> RelayURL {
        let text = try self.text()
        do { return try RelayURL(text) } catch { throw self.place.corrupt("a relay's address", cause: error) }
    }
}
