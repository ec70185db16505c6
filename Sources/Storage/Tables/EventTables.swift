import Foundation
import GRDB
import Nostr
import PikaCore

/// Received events: processed and refused ids, events waiting for an epoch, and invitations.
extension Transaction {
    /// A table of the ids of past events that keeps the newest.
    enum IDTable {
        case seen
        case refused

        var name: StaticString {
            switch self {
            case .seen: "seen"
            case .refused: "refused"
            }
        }

        var limit: Int {
            switch self {
            case .seen: 50_000
            case .refused: 20_000
            }
        }
    }

    /// The number of new events after which the surplus is deleted.
    private static var surplusSlack: Int64 { 1000 }

    func put(_ id: EventID, in table: IDTable, at time: UnixTime) throws {
        try self.execute(
            "INSERT INTO \(table.name) (event_id, seen_at) VALUES (?, ?) ON CONFLICT (event_id) DO NOTHING",
            [Data(id.bytes), time.seconds])
        guard self.database.changesCount == 1 else { return }
        let newest = self.database.lastInsertedRowID
        guard newest.isMultiple(of: Self.surplusSlack) else { return }
        try self.execute("DELETE FROM \(table.name) WHERE id <= ?", [newest - Int64(table.limit)])
    }

    /// Returns the ids, newest first.
    func ids(in table: IDTable) throws -> [EventID] {
        let query = "SELECT event_id FROM \(table.name) ORDER BY id DESC LIMIT ?"
        return try self.map(table.name, query, [table.limit]) { columns in
            let bytes = try columns.bytes()
            do { return try EventID(bytes: bytes) } catch {
                throw StoreError(
                    .corrupt, "table \(table.name): a row is not a valid event id; restore from a backup", cause: error)
            }
        }
    }

    // MARK: Waiting

    func put(_ waiting: WaitingEvent) throws {
        guard waiting.event.createdAt >= 0 else {
            throw StoreError(.invalidChange, "an event before 1970 cannot be stored")
        }
        let id = waiting.event.id.bytes
        var writer = FieldWriter(capacity: 1024)
        writer.integer(waiting.arrivedAt.seconds)
        try writer.data(waiting.event.json())
        try self.execute(
            """
            INSERT INTO waiting (event_id, arrived_at, content) VALUES (?, ?, ?)
            ON CONFLICT (event_id) DO UPDATE SET arrived_at = excluded.arrived_at, content = excluded.content
            """,
            [Data(id), waiting.arrivedAt.seconds, self.sealer.seal(writer.bytes, in: Place(.waiting, id))])
    }

    func deleteWaiting(_ id: EventID) throws {
        try self.execute("DELETE FROM waiting WHERE event_id = ?", [Data(id.bytes)])
    }

    func waiting() throws -> [WaitingEvent] {
        try self.map("waiting", "SELECT event_id, content FROM waiting ORDER BY arrived_at, id") { columns in
            let place = Place(.waiting, try columns.bytes())
            var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
            let arrivedAt = UnixTime(try fields.integer(Int64.self))
            let event = try fields.event()
            try fields.finish()
            return WaitingEvent(event: event, arrivedAt: arrivedAt)
        }
    }

    // MARK: Invitations

    func put(_ invite: StoredInvite) throws {
        guard invite.rumor.createdAt >= 0 else {
            throw StoreError(.invalidChange, "an invitation before 1970 cannot be stored")
        }
        let id = invite.wrapper.bytes
        var writer = FieldWriter(capacity: 1024)
        try writer.data(invite.rumor.rumorJSON())
        try self.execute(
            """
            INSERT INTO invite (wrapper, content) VALUES (?, ?)
            ON CONFLICT (wrapper) DO UPDATE SET content = excluded.content
            """,
            [Data(id), self.sealer.seal(writer.bytes, in: Place(.invite, id))])
    }

    func deleteInvite(_ wrapper: EventID) throws {
        try self.execute("DELETE FROM invite WHERE wrapper = ?", [Data(wrapper.bytes)])
    }

    func invites() throws -> [StoredInvite] {
        try self.map("invite", "SELECT wrapper, content FROM invite ORDER BY id") { columns in
            let place = Place(.invite, try columns.bytes())
            var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
            let rumor = try fields.rumor()
            try fields.finish()
            do { return StoredInvite(wrapper: try EventID(bytes: place.row), rumor: rumor) } catch {
                throw place.corrupt("invalid event id", cause: error)
            }
        }
    }
}
