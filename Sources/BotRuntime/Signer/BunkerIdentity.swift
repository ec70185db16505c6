import BotConfiguration
import Errors
import Foundation
import Nostr
import ProcessSupport

/// The identity by which a remote signer knows this client, stored across runs in a file of mode 0600.
struct BunkerIdentity: Sendable, Equatable {
    let clientKey: KeyPair
    let remoteSigner: PublicKey
    /// The account whose key the signer holds; nil until the signer has answered.
    var account: PublicKey?

    static let fileName = "bunker.json"

    /// Loads the identity, or creates a new key, which is saved when this returns: if a client key is lost after the
    /// introduction, the signer needs a new secret.
    ///
    /// If the file belongs to a different signer from the URL's, only the client's key is reused.
    static func loadOrCreate(file: String, for url: BunkerURL) throws(WorkerError) -> BunkerIdentity {
        if let known = try self.load(file) {
            guard known.remoteSigner != url.remoteSigner else { return known }
            let moved = BunkerIdentity(clientKey: known.clientKey, remoteSigner: url.remoteSigner)
            try moved.save(file)
            return moved
        }
        var generator = SystemRandomNumberGenerator()
        let identity = BunkerIdentity(
            clientKey: KeyPair.generate(using: &generator), remoteSigner: url.remoteSigner)
        try identity.save(file)
        return identity
    }

    /// Loads the identity; nil if the file does not exist.
    static func load(_ file: String) throws(WorkerError) -> BunkerIdentity? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        let bytes: [UInt8]
        do { bytes = try ProtectedFile.read(file, isPrivate: true) } catch {
            throw WorkerError(.noKey, "the client's key for the remote signer cannot be read", cause: error)
        }
        // The cause is omitted, since it is about secret bytes.
        guard let json = try? JSONValue(json: bytes), json["v"]?.integer == 1,
            let client = json["client"]?.string.flatMap({ try? KeyPair(parsing: $0) }),
            let signer = json["signer"]?.string.flatMap({ try? PublicKey(hex: $0) })
        else {
            throw WorkerError(
                .noKey, "\(file) is damaged; remove it, and get a new bunker:// address from the signer's owner")
        }
        return BunkerIdentity(
            clientKey: client, remoteSigner: signer,
            account: json["account"]?.string.flatMap { try? PublicKey(hex: $0) })
    }

    /// Atomically replaces the file.
    func save(_ file: String) throws(WorkerError) {
        var json: JSONObject = [
            "v": 1, "client": .string(Hex.encode(self.clientKey.secretBytes)),
            "signer": .string(self.remoteSigner.hex),
        ]
        if let account { json["account"] = .string(account.hex) }
        do {
            let bytes = JSONValue.object(json).json()
            try PrivateFile<KeyLoadingError>.replace(file, bytes, createsDirectories: true)
        } catch {
            throw WorkerError(.noKey, "the client's key for the remote signer cannot be stored", cause: error)
        }
    }
}
