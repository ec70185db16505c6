import GRDB
import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The private files of a store and its key.
typealias StoreFile = PrivateFile<StoreError>

extension StoreError: SystemCallError {
    package init(errno number: Int32, _ doing: String, _ path: String) {
        let reason = String(cString: strerror(number))
        switch number {
        case EACCES, EPERM, EROFS:
            self.init(
                .permission,
                "\(path): \(doing): \(reason); make the directory writable for user \(geteuid()), which runs this program"
            )
        case ENOSPC, EDQUOT:
            self.init(.diskFull, "\(path): \(doing): \(reason); free some space and start again")
        default:
            self.init(.io, "\(path): \(doing): \(reason)")
        }
    }
}

extension StoreError {
    /// Maps a GRDB error to an error about the database at `path`; errors of this store are kept.
    init(_ error: any Error, database path: String) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let failure = error as? DatabaseError else {
            self.init(.io, "\(path): the database operation failed", cause: error)
            return
        }
        let (code, message) = Self.meaning(of: failure.resultCode)
        self.init(code, "\(path): \(message)", cause: failure)
    }

    private static func meaning(of code: ResultCode) -> (Code, String) {
        switch code {
        case .SQLITE_FULL: (.diskFull, "the disk is full; free some space and start again")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_CANTOPEN:
            (
                .permission,
                "not writable; the file and its directory must be writable for user \(geteuid()), which runs this program"
            )
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            (.locked, "another program holds the database lock; end that program")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            (.corrupt, "the file is damaged or not a database; restore the state directory from a backup")
        case .SQLITE_MISUSE: (.closed, "the store was closed")
        case .SQLITE_IOERR: (.io, "disk read or write error; check the system log")
        default: (.io, "the database refused the operation")
        }
    }
}
