package import BotKit
package import PikaCore

/// Records of bots in the account's store: sealed, on disk when a write returns, and part of its backups.
package struct StoredRecords: SealedRecords {
    private let store: any CoreStore

    package init(_ store: any CoreStore) { self.store = store }

    package func record(_ key: SealedRecordKey) async throws(BotError) -> [UInt8]? {
        do {
            return try await store.value(scope: Self.scope(key), key: key.name)
        } catch {
            throw BotError(.storageFailed, "cannot read \(key.name): \(error)")
        }
    }

    package func write(_ records: [SealedRecordKey: [UInt8]?]) async throws(BotError) {
        let changes = records.map { key, value in
            StoreChange.putValue(scope: Self.scope(key), key: key.name, value: value)
        }
        do {
            try await store.commit(changes)
        } catch {
            throw BotError(.storageFailed, "cannot store \(records.keys.map { $0.name }.sorted()): \(error)")
        }
    }

    /// A scope that no bot's values have, because labels of bots contain no slash.
    private static func scope(_ key: SealedRecordKey) -> String { "bot-records/\(key.bot)" }
}
