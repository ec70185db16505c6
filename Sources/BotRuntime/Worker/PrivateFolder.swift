import Foundation

/// A folder for state: an account's, before its sealing key and its store are there, or that of all accounts.
package enum PrivateFolder {
    /// Makes it, and those above it, unless it is there; what it makes has mode 0700.
    package static func create(_ path: String) throws(WorkerError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw WorkerError(
                .noStateDirectory, "\(path): cannot be made; check who may write above it", cause: error)
        }
    }
}
