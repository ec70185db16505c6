/// The reason why an account's store could not perform an operation, and how to fix it.
///
/// Two errors are equal when their codes are: callers decide by `code`, never by `message`. Messages name files, tables
/// and rows, never their content.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// Another process, or another store of this one, holds the state directory.
        package static let locked = Code(description: "locked")
        /// The database was written with another sealing key.
        package static let wrongKey = Code(description: "wrong_key")
        /// The database belongs to another account.
        package static let wrongAccount = Code(description: "wrong_account")
        /// The database was written by a newer version of this program.
        package static let newerFormat = Code(description: "newer_format")
        /// The database contains something that this store did not write.
        package static let corrupt = Code(description: "corrupt")
        /// No space is left on the device, or a quota is used up.
        package static let diskFull = Code(description: "disk_full")
        /// The system denies access, or the permissions are too open.
        package static let permission = Code(description: "permission")
        /// Reading or writing failed for another reason.
        package static let io = Code(description: "io")
        /// A malformed sealing key.
        package static let invalidKey = Code(description: "invalid_key")
        /// A change refused because its stored form could not be read back.
        package static let invalidChange = Code(description: "invalid_change")
        /// Not a backup, or a damaged one.
        package static let badBackup = Code(description: "bad_backup")
        /// The target directory of a restore already contains a state.
        package static let stateExists = Code(description: "state_exists")
        /// The directory to back up contains no state.
        package static let noState = Code(description: "no_state")
        /// The store was closed.
        package static let closed = Code(description: "closed")
    }

    package let code: Code
    /// The cause, the location and the fix, for people.
    package let message: String
    /// The underlying error of a lower layer.
    package let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String {
        guard let cause = self.cause else { return "\(self.code): \(self.message)" }
        return "\(self.code): \(self.message) (\(cause))"
    }

    package static func == (left: StoreError, right: StoreError) -> Bool { left.code == right.code }
}
