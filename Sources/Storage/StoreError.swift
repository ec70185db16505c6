/// Why the store of an account could not do what it was asked for, and what helps.
///
/// Two errors are equal when their codes are: callers decide by `code`, never by `message`. A message names files,
/// tables and rows, never their content.
public struct StoreError: Error, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// Another process, or another store of this one, holds the state directory.
        public static let locked = Code(description: "locked")
        /// The database was written with another sealing key.
        public static let wrongKey = Code(description: "wrong_key")
        /// The database belongs to another account.
        public static let wrongAccount = Code(description: "wrong_account")
        /// The database was written by a newer version of this program.
        public static let newerFormat = Code(description: "newer_format")
        /// Something in the database is not what this store wrote.
        public static let corrupt = Code(description: "corrupt")
        /// No space is left on the device, or a quota is used up.
        public static let diskFull = Code(description: "disk_full")
        /// The system does not allow it, or allows it to too many others.
        public static let permission = Code(description: "permission")
        /// Reading or writing failed in another way.
        public static let io = Code(description: "io")
        /// What should be a sealing key is none.
        public static let invalidKey = Code(description: "invalid_key")
        /// A change that could not be read back.
        public static let invalidChange = Code(description: "invalid_change")
        /// A file is no backup, or a damaged one.
        public static let badBackup = Code(description: "bad_backup")
        /// There is a state already where one was to be restored.
        public static let stateExists = Code(description: "state_exists")
        /// There is no state where one was to be backed up.
        public static let noState = Code(description: "no_state")
        /// The store was closed.
        public static let closed = Code(description: "closed")
    }

    public let code: Code
    /// What happened, where, and what to do.
    public let message: String
    /// What a lower layer said.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String {
        guard let cause = self.cause else { return "\(self.code): \(self.message)" }
        return "\(self.code): \(self.message) (\(cause))"
    }

    public static func == (left: StoreError, right: StoreError) -> Bool { left.code == right.code }
}
