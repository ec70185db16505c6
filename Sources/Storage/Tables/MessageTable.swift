import Foundation
import GRDB
import MLS
import Nostr
import PikaCore

/// Messages. A message's id is the hash of its text, so it is not stored in the clear: short texts could be guessed.
extension Transaction {
    func put(_ message: StoredMessage) throws {
        let lookup = self.sealer.messageLookup(message.groupID, message.id)
        let content = try self.content(of: message)
        try self.execute(
            """
            INSERT INTO message (lookup, group_lookup, created_at, content, expires_at, point)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (lookup) DO NOTHING
            """,
            [
                Data(lookup), Data(self.groupLookup(message.groupID.bytes)), message.time.seconds,
                self.sealer.seal(content, in: Place(.message, lookup)), message.expiresAt?.seconds,
                self.pointLookup(of: message),
            ])
    }

    /// Records the new epoch, event and expiry of a message that was sent again, and shows it; its position is unchanged.
    func replace(_ message: StoredMessage) throws {
        let lookup = self.sealer.messageLookup(message.groupID, message.id)
        try self.execute(
            "UPDATE message SET content = ?, expires_at = ?, point = ?, withdrawn = 0 WHERE lookup = ?",
            [
                self.sealer.seal(try self.content(of: message), in: Place(.message, lookup)),
                message.expiresAt?.seconds, self.pointLookup(of: message), Data(lookup),
            ])
    }

    // MARK: Withdrawn messages

    /// Hides or shows the messages of points.
    func setWithdrawn(_ isWithdrawn: Bool, _ groupID: GroupID, _ points: [Bytes32]) throws {
        for point in points {
            try self.execute(
                "UPDATE message SET withdrawn = ? WHERE point = ?",
                [isWithdrawn, Data(self.pointLookup(groupID, point))])
        }
    }

    /// Replaces a withdrawn message and shows it; any other one stays as it is.
    func revive(_ message: StoredMessage) throws {
        let lookup = self.sealer.messageLookup(message.groupID, message.id)
        try self.execute(
            """
            UPDATE message SET created_at = ?, content = ?, expires_at = ?, point = ?, withdrawn = 0
            WHERE lookup = ? AND withdrawn = 1
            """,
            [
                message.time.seconds, self.sealer.seal(try self.content(of: message), in: Place(.message, lookup)),
                message.expiresAt?.seconds, self.pointLookup(of: message), Data(lookup),
            ])
    }

    /// Returns the messages of points, oldest first, withdrawn or not.
    func messages(in groupID: GroupID, atPoints points: [Bytes32]) throws -> [StoredMessage] {
        var found: [StoredMessage] = []
        for point in points {
            let select = try self.database.cachedStatement(
                sql: "SELECT lookup, created_at, content, expires_at FROM message WHERE point = ?")
            let rows = try Row.fetchCursor(select, arguments: [Data(self.pointLookup(groupID, point))])
            while let row = try rows.next() { found.append(try self.message(row, groupID)) }
        }
        return found.sorted { $0.position < $1.position }
    }

    private func pointLookup(_ groupID: GroupID, _ point: Bytes32) -> [UInt8] {
        self.sealer.lookup("point", groupID.bytes, point.bytes)
    }

    private func pointLookup(of message: StoredMessage) -> Data? {
        message.point.map { Data(self.pointLookup(message.groupID, $0)) }
    }

    // MARK: Expiry

    func deleteExpired(at time: UnixTime) throws {
        try self.execute("DELETE FROM message WHERE expires_at <= ?", [time.seconds])
    }

    func nextExpiry() throws -> UnixTime? {
        try self.map(
            "message", "SELECT expires_at FROM message WHERE expires_at IS NOT NULL ORDER BY expires_at LIMIT 1"
        ) { UnixTime(try $0.integer()) }.first
    }

    // MARK: Retention

    func deleteSurplus(_ rule: MessageSurplus, limit: Int) throws {
        for row in try self.surplus(rule, limit: limit) { try self.execute("DELETE FROM message WHERE id = ?", [row]) }
    }

    /// Returns the rows that a rule matches, at most `limit`.
    func surplus(_ rule: MessageSurplus, limit: Int) throws -> Set<Int64> {
        var rows: Set<Int64> = []
        if let before = rule.before {
            let old = try self.map(
                "message", "SELECT id FROM message WHERE created_at < ? ORDER BY created_at LIMIT ?",
                [before.seconds, limit]
            ) { try $0.integer() }
            rows.formUnion(old)
        }
        guard let newest = rule.beyondNewest, rows.count < limit else { return rows }
        let groups = try self.map("message", "SELECT DISTINCT group_lookup FROM message") { try $0.data() }
        for group in groups where rows.count < limit {
            let beyond = try self.map(
                "message",
                "SELECT id FROM message WHERE group_lookup = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
                [group, limit, newest]
            ) { try $0.integer() }
            for row in beyond where rows.count < limit { rows.insert(row) }
        }
        return rows
    }

    /// Returns a page of messages, newest first. Ids order the messages of one second, but they are sealed in the
    /// database, so each second is read completely.
    func messages(in groupID: GroupID, before: StoredMessage.Position?, limit: Int) throws -> [StoredMessage] {
        guard limit > 0 else { return [] }
        let select = try self.database.cachedStatement(
            sql: """
                SELECT lookup, created_at, content, expires_at FROM message
                WHERE group_lookup = ? AND created_at <= ? AND withdrawn = 0 ORDER BY created_at DESC
                """)
        let arguments: StatementArguments = [
            Data(self.groupLookup(groupID.bytes)), (before?.createdAt ?? .distantFuture).seconds,
        ]
        let rows = try Row.fetchCursor(select, arguments: arguments)
        var page: [StoredMessage] = []
        var second: [StoredMessage] = []
        func endSecond() {
            page += second.sorted { $0.position > $1.position }
            second = []
        }
        while let row = try rows.next() {
            let message = try self.message(row, groupID)
            if message.time != second.first?.time {
                endSecond()
                if page.count >= limit { break }
            }
            if let before, message.position >= before { continue }
            second.append(message)
        }
        endSecond()
        return Array(page.prefix(limit))
    }

    func message(in groupID: GroupID, id: EventID) throws -> StoredMessage? {
        let select = try self.database.cachedStatement(
            sql: "SELECT lookup, created_at, content, expires_at FROM message WHERE lookup = ?")
        let lookup = self.sealer.messageLookup(groupID, id)
        return try Row.fetchOne(select, arguments: [Data(lookup)]).map { try self.message($0, groupID) }
    }

    private func content(of message: StoredMessage) throws(StoreError) -> [UInt8] {
        guard message.rumor.createdAt >= 0 else {
            throw StoreError(.invalidChange, "a message before 1970 cannot be stored")
        }
        let rumor = message.rumor.rumorJSON()
        var writer = FieldWriter(capacity: rumor.count + 128)
        try writer.data(message.id.bytes)
        try writer.data(message.wrapper.bytes)
        writer.integer(message.epoch.rawValue)
        writer.integer(UInt8(message.isOwn ? 1 : 0))
        try writer.data(rumor)
        if message.time != message.rumor.createdAt || message.point != nil { writer.integer(message.time.seconds) }
        if let point = message.point { try writer.data(point.bytes) }
        return writer.bytes
    }

    private func message(_ row: Row, _ groupID: GroupID) throws -> StoredMessage {
        var columns = ColumnReader(row, table: "message")
        let place = Place(.message, try columns.bytes())
        let createdAt = UnixTime(try columns.integer())
        var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
        let id = try fields.eventID()
        let wrapper = try fields.eventID()
        let epoch = Epoch(rawValue: try fields.integer(UInt64.self))
        let isOwn = try fields.integer(UInt8.self) == 1
        let rumor = try fields.rumor()
        // Stored only if it differs from the inner event's time, or if a point follows; earlier versions never stored it.
        let time = if fields.isAtEnd { rumor.createdAt } else { UnixTime(try fields.integer(Int64.self)) }
        let point: Bytes32? = if fields.isAtEnd { nil } else { Bytes32(try fields.data()) }
        try fields.finish()
        let expiresAt = try columns.optionalInteger().map { UnixTime($0) }
        guard time == createdAt, self.sealer.messageLookup(groupID, id) == place.row else {
            throw place.corrupt("the row does not match its content")
        }
        return StoredMessage(
            groupID: groupID, rumor: rumor, id: id, wrapper: wrapper, epoch: epoch, isOwn: isOwn, expiresAt: expiresAt,
            time: time, point: point)
    }
}

extension FieldReader {
    mutating func eventID() throws(StoreError) -> EventID {
        let bytes = try self.data()
        do { return try EventID(bytes: bytes) } catch { throw self.place.corrupt("invalid event id", cause: error) }
    }

    mutating func rumor() throws(StoreError) -> UnsignedEvent {
        let json = try self.data()
        do { return try UnsignedEvent.parseRumor(json).event } catch {
            throw self.place.corrupt("invalid inner event", cause: error)
        }
    }

    mutating func event() throws(StoreError) -> Event {
        let json = try self.data()
        do { return try Event(json: json) } catch { throw self.place.corrupt("invalid event", cause: error) }
    }
}
