import Foundation
import GRDB
import MLS
import PikaCore

/// Small records of the core; the key is sealed with the content.
extension Transaction {
    func putMemo(_ name: MemoName, _ content: Secret?) throws {
        let lookup = self.sealer.lookup("memo", Array(name.kind.rawValue.utf8), name.key)
        guard let content else { return try self.execute("DELETE FROM memo WHERE lookup = ?", [Data(lookup)]) }
        var writer = FieldWriter(capacity: content.count + name.key.count + 8)
        try writer.data(name.key)
        try writer.data(content.copyBytes())
        try self.execute(
            """
            INSERT INTO memo (lookup, kind, content) VALUES (?, ?, ?)
            ON CONFLICT (lookup) DO UPDATE SET content = excluded.content
            """,
            [Data(lookup), name.kind.rawValue, self.sealer.seal(writer.bytes, in: Place(.memo, lookup))])
    }

    func memos() throws -> [MemoName: Secret] {
        let memos = try self.map("memo", "SELECT lookup, kind, content FROM memo ORDER BY id") { columns in
            let place = Place(.memo, try columns.bytes())
            guard let kind = MemoName.Kind(rawValue: try columns.text()) else { throw place.corrupt("unknown kind") }
            var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
            let name = MemoName(kind, try fields.data())
            let content = Secret(try fields.data())
            try fields.finish()
            return (name, content)
        }
        return Dictionary(memos) { _, last in last }
    }
}
