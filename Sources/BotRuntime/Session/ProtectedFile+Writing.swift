import BotConfiguration
import Foundation

extension ProtectedFile {
    /// Atomically writes or replaces a file of mode 0600. It is on disk when this returns. Missing folders are created
    /// with access for us only.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let draft = "\(folder)/.\(UUID().uuidString)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(bytes))
            try handle.synchronize()
            guard rename(draft, path) == 0 else { throw failure(path) }
            try synchronizeFolder(folder)
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Flushes the folder, which contains the file's name, so that the file survives a crash.
    private static func synchronizeFolder(_ folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(folder) }
    }

    private static func failure(_ path: String) -> KeyLoadingError {
        KeyLoadingError(.unreadable, "\(path): \(String(cString: strerror(errno)))")
    }
}
