import Foundation
import GRDB
import MLS
import PikaCore

/// A running transaction: what the tables' reading and writing is written on.
struct Transaction {
    let database: Database
    let sealer: Sealer

    /// Writes one change; the caller rolls everything back if it throws.
    func apply(_ change: StoreChange) throws {
        switch change {
        case .putKeyPackage(let package): try self.put(package)
        case .deleteKeyPackage(let reference): try self.deleteKeyPackage(reference)
        case .putGroupHeader(let groupID, let header): try self.putHeader(header, of: groupID)
        case .updateGroup(let groupID, let changes): try self.update(groupID, changes)
        case .deleteGroup(let groupID): try self.deleteGroup(groupID)
        case .putMessage(let message): try self.put(message)
        case .moveMessage(let message): try self.replace(message)
        case .deleteExpired(let time): try self.deleteExpired(at: time)
        case .putMedia(let media): try self.put(media)
        case .putSeen(let id, let time): try self.putSeen(id, at: time)
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
        case .settleRestore: try self.execute("UPDATE meta SET restored = 0")
        }
    }

    /// Everything that a core keeps in memory.
    func state() throws -> StoredState {
        var state = StoredState()
        state.keyPackages = try self.keyPackages()
        state.groups = try self.groups()
        state.waiting = try self.waiting()
        state.invites = try self.invites()
        state.inbox = try self.inbox()
        state.outbox = try self.outbox()
        state.cursors = try self.cursors()
        state.seen = try self.seen()
        state.memos = try self.memos()
        state.instance = try Metadata.instance(self.database)
        return state
    }

    // MARK: Statements

    func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try self.database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The rows of a query, each through `body`. A row in a column reader must not outlive the call.
    func map<Element>(
        _ table: StaticString, _ sql: String, _ arguments: StatementArguments = [],
        _ body: (inout ColumnReader) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        let rows = try Row.fetchCursor(try self.database.cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() {
            var columns = ColumnReader(row, table: table)
            elements.append(try body(&columns))
        }
        return elements
    }
}
