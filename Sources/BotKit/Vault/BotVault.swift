/// Secrets that a bot acquires at run time: sealed with the account's storage key, and durable when a call returns.
///
/// ```swift
/// try await context.services.vault.set(BotSecret("s3cret"), for: "shop.token")
/// let token = try await context.services.vault.secret("shop.token")
/// ```
///
/// A bot keeps at most 64 secrets of 4,096 bytes. Changes do not belong to the handler's transaction: they stay if the
/// handler fails. Backups of the account contain them, sealed.
public actor BotVault {
    private let records: any SealedRecords
    private let key: SealedRecordKey
    private let turns = Turns()
    private var contents: VaultContents?

    package init(bot: String, records: any SealedRecords) {
        self.records = records
        key = SealedRecordKey(bot: bot, name: "vault")
    }

    /// Returns a secret; nil if absent. Throws `BotError.Code.storageFailed`.
    public func secret(_ name: String) async throws(BotError) -> BotSecret? {
        try await loaded().secret(name)
    }

    /// The names of all secrets in order, without their values. Throws `BotError.Code.storageFailed`.
    public func names() async throws(BotError) -> [String] {
        try await loaded().names
    }

    /// Stores a secret. Throws `BotError.Code.vaultRefused` for a bad name or too much, and
    /// `BotError.Code.storageFailed`.
    public func set(_ secret: BotSecret, for name: String) async throws(BotError) {
        try await apply([name: .some(secret)])
    }

    /// Removes a secret; does nothing if it is absent. Throws `BotError.Code.storageFailed`.
    public func remove(_ name: String) async throws(BotError) {
        try await apply([name: nil])
    }

    /// Stores and removes several secrets in one transaction.
    public func apply(_ changes: [String: BotSecret?]) async throws(BotError) {
        // Each change starts from the last stored one.
        await turns.begin()
        defer { turns.end() }
        var changed = try await loaded()
        try changed.apply(changes)
        var bytes = changed.bytes
        do {
            try await records.write([key: bytes])
        } catch {
            // The write may have happened, so the next access reads again.
            contents = nil
            bytes.wipeSecret()
            throw error
        }
        bytes.wipeSecret()
        contents = changed
    }

    private func loaded() async throws(BotError) -> VaultContents {
        if let contents { return contents }
        guard var bytes = try await records.record(key) else { return VaultContents() }
        defer { bytes.wipeSecret() }
        guard let read = VaultContents(bytes) else { throw .damaged("vault") }
        // Another call may have changed the vault meanwhile.
        if let contents { return contents }
        contents = read
        return read
    }
}
