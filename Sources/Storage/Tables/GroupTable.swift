import Foundation
import GRDB
import MLS
import PikaCore

/// Groups: the key and the header in one table, the MLS records in another, each record sealed separately.
extension Transaction {
    func putHeader(_ header: Secret, of key: [UInt8]) throws {
        let lookup = self.groupLookup(key)
        let row = try self.groupRow(key, lookup)
        try self.execute(
            "UPDATE mls_group SET header = ? WHERE id = ?", [self.sealer.seal(header, in: Place(.header, lookup)), row])
    }

    func update(_ key: [UInt8], _ changes: GroupStorageChanges) throws {
        let lookup = self.groupLookup(key)
        let row = try self.groupRow(key, lookup)
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
    func deleteGroup(_ key: [UInt8]) throws {
        let lookup = Data(self.groupLookup(key))
        try self.execute("DELETE FROM mls_group WHERE lookup = ?", [lookup])
        try self.execute("DELETE FROM message WHERE group_lookup = ?", [lookup])
    }

    func groups() throws -> [StoredGroup] {
        try self.map("mls_group", "SELECT id, lookup, group_id, header FROM mls_group ORDER BY id") { columns in
            let row = try columns.integer()
            let lookup = try columns.bytes()
            let key = try self.sealer.openBytes(try columns.data(), in: Place(.groupID, lookup))
            let header = try columns.optionalData().map { sealed in
                try self.sealer.openSecret(sealed, in: Place(.header, lookup))
            }
            return StoredGroup(
                key: key, header: header ?? Secret([]), records: try self.records(ofRow: row, lookup))
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

    /// Returns the value that finds a group by its key, and messages by their group id.
    func groupLookup(_ key: [UInt8]) -> [UInt8] { self.sealer.lookup("group", key) }

    private func recordPlace(_ lookup: [UInt8], _ name: String) -> Place { Place(.record, lookup + Array(name.utf8)) }

    /// Returns the group's row, creating it if needed.
    private func groupRow(_ key: [UInt8], _ lookup: [UInt8]) throws -> Int64 {
        let select = try self.database.cachedStatement(sql: "SELECT id FROM mls_group WHERE lookup = ?")
        if let row = try Row.fetchOne(select, arguments: [Data(lookup)]) {
            var columns = ColumnReader(row, table: "mls_group")
            return try columns.integer()
        }
        let sealed = self.sealer.seal(key, in: Place(.groupID, lookup))
        try self.execute("INSERT INTO mls_group (lookup, group_id) VALUES (?, ?)", [Data(lookup), sealed])
        return self.database.lastInsertedRowID
    }
}
