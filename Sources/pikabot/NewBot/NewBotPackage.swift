import BotProgram
import Foundation
import Nostr

/// The package created by `pikabot new bot`: a bot, its program, a test in an encrypted group, and a configuration.
struct NewBotPackage: Sendable {
    let name: NewBotName
    let source: PikabotSource

    /// The package's files by path, without the key.
    var files: [(path: String, text: String)] {
        [
            ("Package.swift", manifest), ("Sources/\(name.type)/\(name.type).swift", bot),
            ("Sources/\(name.program)/\(name.program).swift", program),
            ("Tests/\(name.tests)/\(name.tests).swift", tests), ("\(name.text).yaml", configuration),
            ("README.md", readme), (".gitignore", "/.build\n/.swiftpm\n/secrets\n/state\n"),
        ]
    }

    var keyFile: String { "secrets/\(name.text).key" }

    /// Creates the folder, which must not exist, completely or not at all.
    /// Returns the bot's public key.
    func write(to folder: String) throws -> PublicKey {
        let target = URL(fileURLWithPath: folder)
        let draft = target.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString)")
        let manager = FileManager.default
        do {
            try manager.createDirectory(at: draft, withIntermediateDirectories: true)
            for file in files {
                let place = draft.appendingPathComponent(file.path)
                try manager.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(file.text.utf8).write(to: place)
            }
            let key = try SecretFile.writeNewKey(to: draft.appendingPathComponent(keyFile).path)
            guard rename(draft.path, target.path) == 0 else {
                throw CommandError(
                    errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
                        ? "\(folder): already exists; choose another --directory"
                        : "\(folder): \(String(cString: strerror(errno)))")
            }
            return key.publicKey
        } catch {
            try? manager.removeItem(at: draft)
            throw error
        }
    }
}
