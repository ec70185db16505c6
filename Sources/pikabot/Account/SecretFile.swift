import BotProgram
import Foundation
import Nostr

/// Writes secrets to files that have mode 0600 from the start.
enum SecretFile {
    /// Writes the file atomically, replacing an existing one. Creates missing folders with access for the owner only.
    static func write(_ text: String, to path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let draft = folder.appendingPathComponent(".\(UUID().uuidString)").path
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(text.utf8))
            try handle.synchronize()
            guard rename(draft, path) == 0 else { throw failure(path) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Writes a new secret key as 64 hex digits and a line feed.
    @discardableResult
    static func writeNewKey(to path: String) throws -> KeyPair {
        var generator = SystemRandomNumberGenerator()
        let key = KeyPair.generate(using: &generator)
        try write(Hex.encode(key.secretBytes) + "\n", to: path)
        return key
    }

    private static func failure(_ path: String) -> CommandError {
        CommandError("\(path): \(String(cString: strerror(errno)))")
    }
}
