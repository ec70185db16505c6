import Errors
import Foundation

/// A private folder for the state of one account or of all accounts.
package enum PrivateFolder {
    /// Creates the folder and missing parents with mode 0700, unless it exists.
    package static func create(_ path: String) throws(WorkerError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw WorkerError(
                .noStateDirectory, "\(path): cannot be created; check the permissions of its parent directory",
                cause: error)
        }
    }
}
