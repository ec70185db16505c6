/// Durable records of bots, sealed with the account's storage key.
package protocol SealedRecords: Sendable {
    /// Returns a record; nil if absent. Throws `BotError.Code.storageFailed`.
    func record(_ key: SealedRecordKey) async throws(BotError) -> [UInt8]?

    /// Writes or, for nil, deletes records in one transaction, which is on disk when the call returns.
    ///
    /// Throws `BotError.Code.storageFailed`; then none or all of them are written.
    func write(_ records: [SealedRecordKey: [UInt8]?]) async throws(BotError)
}

/// The name of a record: bots never see those of others.
package struct SealedRecordKey: Hashable, Sendable {
    /// The bot's label in its account.
    package let bot: String
    package let name: String

    package init(bot: String, name: String) {
        self.bot = bot
        self.name = name
    }
}

extension NoBotServices: SealedRecords {
    package func record(_ key: SealedRecordKey) async throws(BotError) -> [UInt8]? {
        throw BotError(.storageFailed, "durable records are not available here")
    }

    package func write(_ records: [SealedRecordKey: [UInt8]?]) async throws(BotError) {
        throw BotError(.storageFailed, "durable records are not available here")
    }
}

extension BotError {
    /// A record that no version of this program wrote.
    static func damaged(_ record: String) -> BotError {
        BotError(.storageFailed, "\(record): the stored record is damaged; restore the account from a backup")
    }
}
