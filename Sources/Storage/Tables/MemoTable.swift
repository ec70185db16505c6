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
        defer { writer.wipe() }
        try writer.data(name.key)
        try writer.secret(content)
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
            var bytes = try self.sealer.openBytes(try columns.data(), in: place)
            defer { Sodium.wipe(&bytes) }
            return try Self.memo(bytes, of: kind, place)
        }
        return Dictionary(memos) { _, last in last }
    }

    // A function of its own, so that no reader shares the bytes when they are wiped.
    @inline(never)
    private static func memo(
        _ bytes: [UInt8], of kind: MemoName.Kind, _ place: Place
    ) throws(StoreError) -> (MemoName, Secret) {
        var fields = FieldReader(bytes, place)
        let name = MemoName(kind, try fields.data())
        let content = try fields.secret()
        try fields.finish()
        return (name, content)
    }
}
