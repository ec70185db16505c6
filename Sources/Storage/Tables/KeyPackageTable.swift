import Foundation
import GRDB
import Nostr
import PikaCore

extension Transaction {
    func put(_ package: StoredKeyPackage) throws {
        let bundle = self.sealer.seal(package.bundle, in: Place(.bundle, package.reference))
        try self.execute(
            """
            INSERT INTO key_package (reference, bundle, slot, created_at, not_after) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (reference) DO UPDATE SET
                bundle = excluded.bundle, slot = excluded.slot, created_at = excluded.created_at,
                not_after = excluded.not_after
            """,
            [Data(package.reference), bundle, package.slot, package.createdAt.seconds, package.notAfter.seconds])
    }

    func deleteKeyPackage(_ reference: [UInt8]) throws {
        try self.execute("DELETE FROM key_package WHERE reference = ?", [Data(reference)])
    }

    func keyPackages() throws -> [StoredKeyPackage] {
        try self.map(
            "key_package", "SELECT reference, bundle, slot, created_at, not_after FROM key_package ORDER BY id"
        ) { columns in
            let reference = try columns.bytes()
            return StoredKeyPackage(
                reference: reference,
                bundle: try self.sealer.openSecret(try columns.data(), in: Place(.bundle, reference)),
                slot: try columns.text(), createdAt: UnixTime(try columns.integer()),
                notAfter: UnixTime(try columns.integer()))
        }
    }
}
