import BotProgram
import BotRuntime
import Foundation
import Logging
import Nostr
import PikaCore
import Storage

/// The identity of an account in its folder: `identity.json` of the state directory, or of one of its further accounts.
struct StoredIdentity {
    private let identity: AccountIdentity

    var account: PublicKey { identity.account }

    private init(_ identity: AccountIdentity) {
        self.identity = identity
    }

    static func path(in folder: String) -> String { "\(folder)/\(AccountDirectory.identityFile)" }

    /// Whether the folder has an identity, even of a logged-out account.
    static func exists(in folder: String) -> Bool {
        [path(in: folder), "\(folder)/\(AccountDirectory.loggedOutFile)"].contains {
            FileManager.default.fileExists(atPath: $0)
        }
    }

    static func load(from folder: String) throws -> StoredIdentity {
        let path = path(in: folder)
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandError("\(path): no identity found; run: pikabot init")
        }
        // No details: the message must not disclose any part of the key.
        guard let identity = try? IdentityFile(path: path).read(isPrivate: false) else {
            throw CommandError(
                "\(path): expected secret_key_hex and the matching public_key_hex, or an identity of `pikabot login`")
        }
        return StoredIdentity(identity)
    }

    /// Returns the key; decrypts it with a password of the environment or the terminal, or prepares the connection to
    /// its remote signer.
    func heldKey(logger: Logger) throws -> HeldKey {
        switch identity {
        case .key(let key): return HeldKey(key)
        case .encryptedKey(let account, let text):
            let key = try Password.decrypt(text, passwordFile: nil)
            guard key.publicKey == account else {
                throw CommandError("the stored key is not the key of \(account.npub); log in again with its key")
            }
            return HeldKey(key)
        case .bunker(let account, let url, let client):
            let bunker = try BunkerConnection(
                url, account: account, client: client, clock: SystemClock(), logger: logger)
            return HeldKey(account, bunker)
        case .wiping(let account):
            throw CommandError(
                "the deletion of \(account.npub) is unfinished; run: pikabot logout --erase --account \(account.npub)")
        }
    }

    /// Returns the directory's identity; if it has none, creates one and reports that on standard error.
    static func loadOrCreate(in stateDirectory: String) throws -> StoredIdentity {
        guard !FileManager.default.fileExists(atPath: path(in: stateDirectory)) else {
            return try load(from: stateDirectory)
        }
        var generator = SystemRandomNumberGenerator()
        let key = KeyPair.generate(using: &generator)
        let identity = StoredIdentity(.key(key))
        // Another process may have created one meanwhile, and may use its key already.
        guard try SecretFile.create(text(of: key), in: stateDirectory, named: AccountDirectory.identityFile) else {
            return try load(from: stateDirectory)
        }
        Console.printError("\(stateDirectory) had no identity; created a new one: \(identity.account.npub)")
        return identity
    }

    /// Writes the identity of a local key.
    static func save(_ key: KeyPair, to stateDirectory: String) throws {
        try SecretFile.write(text(of: key), to: path(in: stateDirectory))
    }

    private static func text(of key: KeyPair) -> String {
        let json: JSONValue = [
            "secret_key_hex": .string(Hex.encode(key.secretBytes)), "public_key_hex": .string(key.publicKey.hex),
        ]
        return json.prettyText + "\n"
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
        // The previous account's daemon tokens and decrypted files must not carry over to the new one.
        for name in [AccountDirectory.identityFile, AccountDirectory.loggedOutFile] + AccountDirectory.stateFiles
        where manager.fileExists(atPath: "\(stateDirectory)/\(name)") {
            try manager.moveItem(atPath: "\(stateDirectory)/\(name)", toPath: "\(folder)/\(name)")
        }
        return folder
    }
}
