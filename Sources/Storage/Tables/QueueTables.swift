import Foundation
import GRDB
import MLS
import Nostr
import PikaCore

/// The inbox of events not yet completed by handlers, and the outbox of events not yet acknowledged by relays.
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
            INSERT INTO outbox (lookup, sequence, attempts, content, leftover) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (lookup) DO NOTHING
            """,
            [
                Data(lookup), row.sequence, row.attempts,
                self.sealer.seal(try Self.content(of: row), in: Place(.outbox, lookup)),
                try row.leftover.map { try self.sealed($0, lookup) },
            ])
    }

    func settleOutbox(_ id: String, _ leftover: OutboxRow.Leftover) throws {
        let lookup = self.outboxLookup(id)
        try self.execute(
            "UPDATE outbox SET leftover = ? WHERE lookup = ?", [try self.sealed(leftover, lookup), Data(lookup)])
    }

    private func sealed(_ leftover: OutboxRow.Leftover, _ lookup: [UInt8]) throws -> Data {
        var writer = FieldWriter(capacity: 256)
        writer.integer(leftover.settledAt.seconds)
        try writer.relays(leftover.relays)
        return self.sealer.seal(writer.bytes, in: Place(.leftover, lookup))
    }

    private func leftover(_ sealed: Data?, _ lookup: [UInt8]) throws -> OutboxRow.Leftover? {
        guard let sealed else { return nil }
        let place = Place(.leftover, lookup)
        var fields = FieldReader(try self.sealer.openBytes(sealed, in: place), place)
        let leftover = OutboxRow.Leftover(
            settledAt: UnixTime(try fields.integer(Int64.self)), relays: try fields.relays())
        try fields.finish()
        return leftover
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
            "outbox", "SELECT lookup, sequence, attempts, content, leftover FROM outbox ORDER BY sequence, id"
        ) { columns in
            let lookup = try columns.bytes()
            let place = Place(.outbox, lookup)
            let sequence = try columns.integer()
            let attempts = try columns.integer()
            var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
            var row = try Self.outboxRow(&fields, sequence: sequence, attempts: Int(attempts))
            row.leftover = try self.leftover(try columns.optionalData(), lookup)
            return row
        }
    }

    private func outboxLookup(_ id: String) -> [UInt8] { self.sealer.lookup("outbox", Array(id.utf8)) }

    private static func content(of row: OutboxRow) throws -> [UInt8] {
        var writer = FieldWriter(capacity: 1536)
        try writer.text(row.id)
        try writer.text(row.purpose.rawValue)
        try writer.optional(row.groupID?.bytes)
        try writer.optional(row.messageID?.bytes)
        try writer.relays(row.relays)
        try writer.data(row.event.json())
        return writer.bytes
    }

    private static func outboxRow(
        _ fields: inout FieldReader, sequence: Int64, attempts: Int
    ) throws(StoreError) -> OutboxRow {
        let id = try fields.text()
        guard let purpose = OutboxRow.Purpose(rawValue: try fields.text()) else {
            throw fields.place.corrupt("unknown purpose")
        }
        let groupID = try fields.optional().map { GroupID($0) }
        let messageID = try fields.optionalEventID()
        let relays = try fields.relays()
        let event = try fields.event()
        try fields.finish()
        return OutboxRow(
            id: id, sequence: sequence, event: event, relays: relays, purpose: purpose, groupID: groupID,
            messageID: messageID, attempts: attempts)
    }
}

extension FieldWriter {
    fileprivate mutating func relays(_ relays: [RelayURL]) throws(StoreError) {
        try self.count(relays.count)
        for relay in relays { try self.text(relay.string) }
    }
}

extension FieldReader {
    fileprivate mutating func optionalEventID() throws(StoreError) -> EventID? {
        guard let bytes = try self.optional() else { return nil }
        do { return try EventID(bytes: bytes) } catch { throw self.place.corrupt("invalid event id", cause: error) }
    }

    fileprivate mutating func relays() throws(StoreError) -> [RelayURL] {
        var relays: [RelayURL] = []
        for _ in 0..<(try self.integer(UInt32.self)) { relays.append(try self.relay()) }
        return relays
    }

    private mutating func relay() throws(StoreError) -> RelayURL {
        let text = try self.text()
        do { return try RelayURL(text) } catch { throw self.place.corrupt("invalid relay URL", cause: error) }
    }
}
