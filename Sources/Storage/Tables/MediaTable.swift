import Foundation
import GRDB
import MLS
import Nostr
import PikaCore

/// Files of messages; a row is deleted with its message.
extension Transaction {
    func put(_ media: StoredMedia) throws {
        let lookup = self.messageLookup(media.groupID, media.messageID)
        var writer = FieldWriter(capacity: 4096)
        defer { writer.wipe() }
        try writer.count(media.reference.values.count)
        for value in media.reference.values { try writer.text(value) }
        try writer.count(media.keys.count)
        for key in media.keys { try writer.secret(key) }
        try self.execute(
            """
            INSERT INTO media (message_lookup, position, content) VALUES (?, ?, ?)
            ON CONFLICT (message_lookup, position) DO NOTHING
            """,
            [
                Data(lookup), media.index,
                self.sealer.seal(writer.bytes, in: Self.mediaPlace(lookup, Int64(media.index))),
            ])
    }

    func media(in groupID: GroupID, message: EventID) throws -> [StoredMedia] {
        let lookup = self.messageLookup(groupID, message)
        return try self.map(
            "media", "SELECT position, content FROM media WHERE message_lookup = ? ORDER BY position", [Data(lookup)]
        ) { columns in
            let position = try columns.integer()
            let place = Self.mediaPlace(lookup, position)
            var fields = FieldReader(try self.sealer.openBytes(try columns.data(), in: place), place)
            let values = try (0..<(try fields.integer(UInt32.self))).map { _ in try fields.text() }
            let keys = try (0..<(try fields.integer(UInt32.self))).map { _ in try fields.secret() }
            try fields.finish()
            return StoredMedia(
                groupID: groupID, messageID: message, index: Int(position), reference: Tag(values: values), keys: keys)
        }
    }

    /// Returns the names of cached files that belong to no stored message.
    func orphans(among names: [String]) throws -> [String] {
        let select = try self.database.cachedStatement(
            sql: "SELECT 1 FROM media WHERE message_lookup = ? AND position = ?")
        return try names.filter { text in
            guard let name = CachedFileName(text) else { return true }
            return try Row.fetchOne(select, arguments: [Data(name.message), name.index]) == nil
        }
    }

    private func messageLookup(_ groupID: GroupID, _ message: EventID) -> [UInt8] {
        self.sealer.messageLookup(groupID, message)
    }

    private static func mediaPlace(_ lookup: [UInt8], _ position: Int64) -> Place {
        Place(.media, lookup + withUnsafeBytes(of: position.bigEndian) { Array($0) })
    }
}

extension Sealer {
    /// Returns the key of a message's row.
    func messageLookup(_ groupID: GroupID, _ message: EventID) -> [UInt8] {
        self.lookup("message", groupID.bytes, message.bytes)
    }
}
