import BotProgram
import Nostr
import ProcessSupport

/// Writes secrets to files that have mode 0600 from the start.
enum SecretFile {
    /// Writes the file atomically, replacing an existing one. Creates missing folders with access for the owner only.
    static func write(_ text: String, to path: String) throws {
        try PrivateFile<CommandError>.replace(path, Array(text.utf8), createsDirectories: true)
    }

    /// Writes a new file in a folder, which is created if missing; returns false if the file exists.
    static func create(_ text: String, in folder: String, named name: String) throws -> Bool {
        try PrivateFile<CommandError>.createDirectories(folder)
        return try PrivateFile<CommandError>.create("\(folder)/\(name)", Array(text.utf8))
    }

    /// Writes a new secret key as 64 hex digits and a line feed.
    @discardableResult
    static func writeNewKey(to path: String) throws -> KeyPair {
        var generator = SystemRandomNumberGenerator()
        let key = KeyPair.generate(using: &generator)
        try write(Hex.encode(key.secretBytes) + "\n", to: path)
        return key
    }
}
