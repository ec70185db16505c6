import Nostr

/// The location of a sealed value: its column and row.
struct Place {
    /// A column that holds sealed values. The names are part of the format.
    enum Column: String {
        case check = "meta.key_check"
        case account = "meta.account"
        case bundle = "key_package.bundle"
        case groupID = "mls_group.group_id"
        case header = "mls_group.header"
        case record = "group_record.content"
        case message = "message.content"
        case waiting = "waiting.content"
        case invite = "invite.content"
        case inbox = "inbox.payload"
        case outbox = "outbox.content"
        case leftover = "outbox.leftover"
        case value = "stored_value.content"
        case memo = "memo.content"
        case media = "media.content"
        case journalPage = "crash_page.content"
        case cachedFile = "media_cache.content"
        case botValue = "bot_database.value"
    }

    let column: Column
    /// The row's identifier within its table: bytes that the table stores in the clear.
    let row: [UInt8]

    init(_ column: Column, _ row: [UInt8]) {
        self.column = column
        self.row = row
    }

    init(_ column: Column, _ row: Int64) {
        self.init(column, withUnsafeBytes(of: row.bigEndian) { Array($0) })
    }

    /// Format version, column and row; unique per place.
    var associatedData: [UInt8] { [Sealer.format] + Array(self.column.rawValue.utf8) + [0] + self.row }

    func corrupt(_ reason: String, cause: (any Error)? = nil) -> StoreError {
        let parts = self.column.rawValue.split(separator: ".")
        return StoreError(
            .corrupt,
            "table \(parts[0]), column \(parts[1]), row \(Hex.encode(self.row)): \(reason); "
                + "restore the state directory from a backup",
            cause: cause)
    }
}
