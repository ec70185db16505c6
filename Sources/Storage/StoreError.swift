package import Errors

/// The reason why an account's store could not perform an operation, and how to fix it.
///
/// Two errors are equal when their codes are: callers decide by `code`, never by `message`. Messages name files, tables
/// and rows, never their content.
package struct StoreError: CausedError, Equatable {
    package typealias Code = ErrorCode<StoreError>

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

    package static func == (left: StoreError, right: StoreError) -> Bool { left.code == right.code }
}

extension ErrorCode where Failure == StoreError {
    /// Another process, or another store of this one, holds the state directory.
    package static var locked: Self { Self("locked") }
    /// The database was written with another sealing key.
    package static var wrongKey: Self { Self("wrong_key") }
    /// The database belongs to another account.
    package static var wrongAccount: Self { Self("wrong_account") }
    /// The database was written by a newer version of this program.
    package static var newerFormat: Self { Self("newer_format") }
    /// The database contains something that this store did not write.
    package static var corrupt: Self { Self("corrupt") }
    /// No space is left on the device, or a quota is used up.
    package static var diskFull: Self { Self("disk_full") }
    /// The system denies access, or the permissions are too open.
    package static var permission: Self { Self("permission") }
    /// Reading or writing failed for another reason.
    package static var io: Self { Self("io") }
    /// A malformed sealing key.
    package static var invalidKey: Self { Self("invalid_key") }
    /// A change refused because its stored form could not be read back.
    package static var invalidChange: Self { Self("invalid_change") }
    /// Not a backup, or a damaged one.
    package static var badBackup: Self { Self("bad_backup") }
    /// The target directory of a restore already contains a state.
    package static var stateExists: Self { Self("state_exists") }
    /// The directory to back up contains no state.
    package static var noState: Self { Self("no_state") }
    /// The store was closed.
    package static var closed: Self { Self("closed") }
}
