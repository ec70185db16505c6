import Foundation
import GRDB

/// Cursors, and the values of bots.
extension Transaction {
    func advanceCursor(_ name: String, to value: Int64) throws {
        try self.execute(
            """
            INSERT INTO cursor (name, value) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > value
            """,
            [name, value])
    }

    func cursors() throws -> [String: Int64] {
        let cursors = try self.map("cursor", "SELECT name, value FROM cursor") { columns in
            (try columns.text(), try columns.integer())
        }
        return Dictionary(cursors) { _, last in last }
    }

    // MARK: Values

    func putValue(_ scope: String, _ key: String, _ value: [UInt8]?) throws {
        let lookup = self.valueLookup(scope, key)
        guard let value else { return try self.execute("DELETE FROM stored_value WHERE lookup = ?", [Data(lookup)]) }
        // The names are stored too, because they cannot be recovered from their hash.
        var writer = FieldWriter(capacity: value.count + scope.utf8.count + key.utf8.count + 12)
        try writer.text(scope)
        try writer.text(key)
        try writer.data(value)
        try self.execute(
            """
            INSERT INTO stored_value (lookup, content) VALUES (?, ?)
            ON CONFLICT (lookup) DO UPDATE SET content = excluded.content
            """,
            [Data(lookup), self.sealer.seal(writer.bytes, in: Place(.value, lookup))])
    }

    func value(_ scope: String, _ key: String) throws -> [UInt8]? {
        let lookup = self.valueLookup(scope, key)
        let place = Place(.value, lookup)
        return try self.map(
            "stored_value", "SELECT content FROM stored_value WHERE lookup = ?", [Data(lookup)]
        ) { columns in
            var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
            guard try fields.text() == scope, try fields.text() == key else {
                throw place.corrupt("the value belongs to another key")
            }
            let value = try fields.data()
            try fields.finish()
            return value
        }.first
    }

    private func valueLookup(_ scope: String, _ key: String) -> [UInt8] {
        self.sealer.lookup("value", Array(scope.utf8), Array(key.utf8))
    }
}
