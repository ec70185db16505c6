import BotProgram
import Foundation
import Nostr
import Storage

/// The account key of the command line, in `identity.json` of its state directory.
struct StoredIdentity {
    let key: KeyPair

    static func path(in stateDirectory: String) -> String { stateDirectory + "/identity.json" }

    static func exists(in stateDirectory: String) -> Bool {
        FileManager.default.fileExists(atPath: path(in: stateDirectory))
    }

    static func load(from stateDirectory: String) throws -> StoredIdentity {
        let path = path(in: stateDirectory)
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError("\(path): no identity found; run: pikabot init")
        }
        // No details: the message must not disclose any part of the key.
        guard let json = try? JSONValue(json: data), let text = json["secret_key_hex"]?.string,
            let key = try? KeyPair(parsing: text), json["public_key_hex"]?.string == key.publicKey.hex
        else { throw CommandError("\(path): expected secret_key_hex and the matching public_key_hex") }
        return StoredIdentity(key: key)
    }

    /// Returns the directory's identity; if it has none, creates one and reports that on standard error.
    static func loadOrCreate(in stateDirectory: String) throws -> StoredIdentity {
        guard !exists(in: stateDirectory) else { return try load(from: stateDirectory) }
        var generator = SystemRandomNumberGenerator()
        let identity = StoredIdentity(key: KeyPair.generate(using: &generator))
        try identity.save(to: stateDirectory)
        Console.printError("\(stateDirectory) had no identity; created a new one: \(identity.key.publicKey.npub)")
        return identity
    }

    func save(to stateDirectory: String) throws {
        let json: JSONValue = [
            "secret_key_hex": .string(Hex.encode(key.secretBytes)), "public_key_hex": .string(key.publicKey.hex),
        ]
        try SecretFile.write(json.prettyText + "\n", to: Self.path(in: stateDirectory))
    }

    /// Moves the identity and all of its state to a backup folder, and returns that folder.
    ///
    /// Throws when another process uses the state directory.
    static func archive(in stateDirectory: String) throws -> String {
        let lock = try StateDirectoryLock(directory: stateDirectory, program: "pikabot init")
        defer { lock.release() }
        let folder = stateDirectory + "/replaced-\(UUID().uuidString.prefix(8))"
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for name in [
            "identity.json", "sealing.key", "state.sqlite", "state.sqlite-wal", "state.sqlite-shm",
            // The previous account's daemon tokens and decrypted files must not carry over to the new one.
            "daemon-tokens.json", "media", "media-cache",
        ] where manager.fileExists(atPath: "\(stateDirectory)/\(name)") {
            try manager.moveItem(atPath: "\(stateDirectory)/\(name)", toPath: "\(folder)/\(name)")
        }
        return folder
    }
}
