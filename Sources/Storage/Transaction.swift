import Foundation
import GRDB
import MLS
import Nostr
import PikaCore

/// A running transaction; the tables' queries are extensions of it.
struct Transaction {
    let database: Database
    let sealer: Sealer
    /// The ledger that records each row read at the start.
    var crashes = CrashLedger.off

    /// Applies one change; if it throws, the caller rolls the transaction back.
    func apply(_ change: StoreChange) throws {
        switch change {
        case .putKeyPackage(let package): try self.put(package)
        case .deleteKeyPackage(let reference): try self.deleteKeyPackage(reference)
        case .putGroupHeader(let key, let header): try self.putHeader(header, of: key)
        case .updateGroup(let key, let changes): try self.update(key, changes)
        case .deleteGroup(let key): try self.deleteGroup(key)
        case .putMessage(let message): try self.put(message)
        case .moveMessage(let message): try self.replace(message)
        case .withdrawMessages(let groupID, let points): try self.setWithdrawn(true, groupID, points)
        case .restoreMessages(let groupID, let points): try self.setWithdrawn(false, groupID, points)
        case .reviveMessage(let message): try self.revive(message)
        case .deleteExpired(let time): try self.deleteExpired(at: time)
        case .putMedia(let media): try self.put(media)
        case .putSeen(let id, let time): try self.put(id, in: .seen, at: time)
        case .putRefused(let id, let time): try self.put(id, in: .refused, at: time)
        case .putWaiting(let event): try self.put(event)
        case .deleteWaiting(let id): try self.deleteWaiting(id)
        case .putInvite(let invite): try self.put(invite)
        case .deleteInvite(let wrapper): try self.deleteInvite(wrapper)
        case .putInbox(let row): try self.put(row)
        case .deleteInbox(let id): try self.execute("DELETE FROM inbox WHERE id = ?", [id])
        case .putOutbox(let row): try self.put(row)
        case .countOutboxAttempt(let id): try self.countOutboxAttempt(id)
        case .settleOutbox(let id, let leftover): try self.settleOutbox(id, leftover)
        case .deleteOutbox(let id): try self.deleteOutbox(id)
        case .advanceCursor(let name, let value): try self.advanceCursor(name, to: value)
        case .putValue(let scope, let key, let value): try self.putValue(scope, key, value)
        case .putMemo(let name, let content): try self.putMemo(name, content)
        case .deleteSurplus(let rule, let limit): try self.deleteSurplus(rule, limit: limit)
        case .markRestoreHandled: try self.execute("UPDATE meta SET restored = 0")
        case .dropRow(let table, let key): try self.dropRow(table, key)
        case .putInstance(let instance):
            try self.execute(
                "UPDATE meta SET instance = ?, generation = ?, restored = ?",
                [Data(instance.id), instance.generation, instance.isRestored])
        }
    }

    /// Reads everything that a core keeps in memory.
    func state() throws -> StoredState {
        var state = StoredState()
        state.keyPackages = try self.keyPackages()
        state.groups = try self.groups()
        state.waiting = try self.waiting()
        state.invites = try self.invites()
        state.inbox = try self.inbox()
        state.outbox = try self.outbox()
        state.cursors = try self.cursors()
        state.seen = try self.ids(in: .seen)
        state.refused = try self.ids(in: .refused)
        state.memos = try self.memos()
        state.instance = try Metadata.instance(self.database)
        return state
    }

    // MARK: Statements

    func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try self.database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Maps the rows of a query through `body`. A column reader's row must not outlive the call.
    func map<Element>(
        _ table: StaticString, _ sql: String, _ arguments: StatementArguments = [],
        _ body: (inout ColumnReader) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        let rows = try Row.fetchCursor(try self.database.cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() {
            let element = try self.crashes.part(Self.subject(of: row, table), of: .read) {
                var columns = ColumnReader(row, table: table)
                return try body(&columns)
            }
            if let element { elements.append(element) }
        }
        return elements
    }

    // MARK: Quarantined rows

    /// The first column of each query for the state, which identifies the row.
    private static let keys = [
        "key_package": "reference", "mls_group": "id", "waiting": "event_id", "invite": "wrapper", "inbox": "id",
        "outbox": "lookup", "memo": "lookup", "seen": "event_id",
    ]

    /// Returns the crash subject of a row; nil for rows that belong to others, or are not read at the start.
    private static func subject(of row: Row, _ table: StaticString) -> CrashSubject? {
        guard Self.keys["\(table)"] != nil, let value = row.databaseValues.first else { return nil }
        switch value.storage {
        case .int64(let number): return .row(table: "\(table)", key: "\(number)")
        case .blob(let bytes): return .row(table: "\(table)", key: Hex.encode(Array(bytes)))
        case .null, .double, .string: return nil
        }
    }

    private func dropRow(_ table: String, _ key: String) throws {
        guard let column = Self.keys[table] else { return }
        if let number = Int64(key), column == "id" {
            try self.execute("DELETE FROM \(table) WHERE id = ?", [number])
        } else if let bytes = Hex.decode(key) {
            try self.execute("DELETE FROM \(table) WHERE \(column) = ?", [Data(bytes)])
        }
    }
}
