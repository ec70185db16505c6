import Foundation

/// The folder of an account's state, which the file with its sealing key needs before the store can make it.
enum PrivateFolder {
    /// Makes it, and those above it, unless it is there; what it makes has mode 0700.
    static func create(_ path: String) throws(WorkerError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw WorkerError(
                .noStateDirectory, "\(path): cannot be made; check who may write above it", cause: error)
        }
    }
}
