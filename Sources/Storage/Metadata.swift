import Foundation
import GRDB
import Nostr
import PikaCore

/// The metadata row: the database's format, key check, owner and copy.
struct Metadata {
    private static let checkValue = Array("pikabot account store".utf8)

    /// Checks whether this program, key and account may use the database, before anything in it is changed.
    ///
    /// - Returns: nil for a new database.
    static func verify(_ database: Database, key: SealingKey, account: PublicKey?) throws -> Sealer? {
        guard try !Migrations.all.hasBeenSuperseded(database) else { throw Self.newerFormat }
        guard try database.tableExists("meta"),
            let row = try Row.fetchOne(database, sql: "SELECT format, number, key_check, account FROM meta")
        else { return nil }
        var columns = ColumnReader(row, table: "meta")
        guard try columns.integer() <= Int64(Sealer.format) else { throw Self.newerFormat }
        let sealer = Sealer(key, database: UInt64(bitPattern: try columns.integer()))
        let check = Place(.check, [])
        guard (try? sealer.openBytes(try columns.data(), in: check)) == Self.checkValue else {
            throw StoreError(
                .wrongKey, "the database was written with another sealing key; supply that key")
        }
        guard let account, let sealedOwner = try columns.optionalData() else { return sealer }
        let owner = try sealer.openBytes(sealedOwner, in: Place(.account, []))
        guard owner == account.bytes else {
            throw StoreError(
                .wrongAccount,
                "this state directory belongs to another account, not \(account.npub); use one directory per account")
        }
        return sealer
    }

    /// Writes those values that ``verify(_:key:account:)`` checks and that are missing.
    static func initialize(
        _ database: Database, _ sealer: Sealer?, key: SealingKey, account: PublicKey?
    ) throws -> Sealer {
        var number: UInt64 = 0
        withUnsafeMutableBytes(of: &number, Sodium.fillRandomly)
        let result = sealer ?? Sealer(key, database: number)
        if sealer == nil {
            try database.execute(
                sql: """
                    INSERT INTO meta (id, format, number, key_check, instance) VALUES (1, ?, ?, ?, randomblob(16))
                    """,
                arguments: [
                    Int64(Sealer.format), Int64(bitPattern: number),
                    result.seal(Self.checkValue, in: Place(.check, [])),
                ])
        }
        if let account {
            try database.execute(
                sql: "UPDATE meta SET account = ? WHERE account IS NULL",
                arguments: [result.seal(account.bytes, in: Place(.account, []))])
        }
        return result
    }

    // MARK: Copies

    static func instance(_ database: Database) throws -> StoredInstance {
        guard let row = try Row.fetchOne(database, sql: "SELECT instance, generation, restored FROM meta") else {
            throw StoreError(.corrupt, "table meta is empty; restore the state directory from a backup")
        }
        var columns = ColumnReader(row, table: "meta")
        return StoredInstance(
            id: try columns.bytes(), generation: try columns.integer(), isRestored: try columns.integer() != 0)
    }

    /// Marks a restored state as a new copy: with a new instance id and a higher generation.
    static func beginInstance(_ database: Database, nowMilliseconds: Int64) throws {
        try database.execute(
            sql: """
                UPDATE meta SET instance = randomblob(16), restored = 1,
                    generation = max(?, CASE WHEN generation < 9223372036854775807 THEN generation + 1 ELSE generation END)
                """, arguments: [nowMilliseconds])
    }

    private static let newerFormat = StoreError(
        .newerFormat, "the database was written by a newer version of this program; use that version or a later one")
}
