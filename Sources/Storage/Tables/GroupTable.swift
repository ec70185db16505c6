import Foundation
import GRDB
import MLS
import PikaCore

/// Groups: the id and the header in one table, the MLS records in another, each record sealed separately.
extension Transaction {
    func putHeader(_ header: Secret, of groupID: [UInt8]) throws {
        let lookup = self.groupLookup(groupID)
        let row = try self.groupRow(groupID, lookup)
        try self.execute(
            "UPDATE mls_group SET header = ? WHERE id = ?", [self.sealer.seal(header, in: Place(.header, lookup)), row])
    }

    func update(_ groupID: [UInt8], _ changes: GroupStorageChanges) throws {
        let lookup = self.groupLookup(groupID)
        let row = try self.groupRow(groupID, lookup)
        if changes.replacesAll { try self.execute("DELETE FROM group_record WHERE group_row = ?", [row]) }
        for (record, content) in changes.records {
            let name = record.description
            guard let content else {
                try self.execute("DELETE FROM group_record WHERE group_row = ? AND name = ?", [row, name])
                continue
            }
            try self.execute(
                """
                INSERT INTO group_record (group_row, name, content) VALUES (?, ?, ?)
                ON CONFLICT (group_row, name) DO UPDATE SET content = excluded.content
                """,
                [row, name, self.sealer.seal(content, in: self.recordPlace(lookup, name))])
        }
    }

    /// Deletes the header, the records and the history.
    func deleteGroup(_ groupID: [UInt8]) throws {
        let lookup = Data(self.groupLookup(groupID))
        try self.execute("DELETE FROM mls_group WHERE lookup = ?", [lookup])
        try self.execute("DELETE FROM message WHERE group_lookup = ?", [lookup])
    }

    func groups() throws -> [StoredGroup] {
        try self.map("mls_group", "SELECT id, lookup, group_id, header FROM mls_group ORDER BY id") { columns in
            let row = try columns.integer()
            let lookup = try columns.bytes()
            let groupID = try self.sealer.openBytes(try columns.data(), in: Place(.groupID, lookup))
            let header = try columns.optionalData().map { sealed in
                try self.sealer.openSecret(sealed, in: Place(.header, lookup))
            }
            return StoredGroup(
                groupID: groupID, header: header ?? Secret([]), records: try self.records(ofRow: row, lookup))
        }
    }

    private func records(ofRow row: Int64, _ lookup: [UInt8]) throws -> [GroupRecord: Secret] {
        let records = try self.map(
            "group_record", "SELECT name, content FROM group_record WHERE group_row = ?", [row]
        ) { columns in
            let name = try columns.text()
            let place = self.recordPlace(lookup, name)
            guard let record = GroupRecord(name) else { throw place.corrupt("invalid record name") }
            return (record, try self.sealer.openSecret(try columns.data(), in: place))
        }
        return Dictionary(records) { _, last in last }
    }

    func groupLookup(_ groupID: [UInt8]) -> [UInt8] { self.sealer.lookup("group", groupID) }

    private func recordPlace(_ lookup: [UInt8], _ name: String) -> Place { Place(.record, lookup + Array(name.utf8)) }

    /// Returns the group's row, creating it if needed.
    private func groupRow(_ groupID: [UInt8], _ lookup: [UInt8]) throws -> Int64 {
        let select = try self.database.cachedStatement(sql: "SELECT id FROM mls_group WHERE lookup = ?")
        if let row = try Row.fetchOne(select, arguments: [Data(lookup)]) {
            var columns = ColumnReader(row, table: "mls_group")
            return try columns.integer()
        }
        let sealed = self.sealer.seal(groupID, in: Place(.groupID, lookup))
        try self.execute("INSERT INTO mls_group (lookup, group_id) VALUES (?, ?)", [Data(lookup), sealed])
        return self.database.lastInsertedRowID
    }
}
