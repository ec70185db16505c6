import Foundation
import Nostr

/// What an account's remote signer knows this client by, kept from run to run in a file of mode 0600.
struct BunkerIdentity: Sendable, Equatable {
    let clientKey: KeyPair
    let remoteSigner: PublicKey
    /// Whose key the signer holds; nil until it has said so.
    var account: PublicKey?

    static let fileName = "bunker.json"

    /// What the file says, or a fresh key, which is in the file when this returns: a signer that was introduced to a
    /// key that is lost would have to be asked for a new secret.
    ///
    /// Of another signer than the address names only the client's key is taken over.
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

    /// Nil if the file does not exist.
    static func load(_ file: String) throws(WorkerError) -> BunkerIdentity? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        let bytes: [UInt8]
        do { bytes = try SecretFile.read(file, isPrivate: true) } catch {
            throw WorkerError(.noKey, "the client's key for the remote signer cannot be read", cause: error)
        }
        // The cause is left out: it is about bytes that nobody should see.
        guard let json = try? JSONValue(json: bytes), json["v"]?.integer == 1,
            let client = json["client"]?.string.flatMap({ try? KeyPair(parsing: $0) }),
            let signer = json["signer"]?.string.flatMap({ try? PublicKey(hex: $0) })
        else {
            throw WorkerError(
                .noKey, "\(file): is damaged; remove it, and ask the remote signer's owner for a new address")
        }
        return BunkerIdentity(
            clientKey: client, remoteSigner: signer,
            account: json["account"]?.string.flatMap { try? PublicKey(hex: $0) })
    }

    /// Replaces the file in one step.
    func save(_ file: String) throws(WorkerError) {
        var json: JSONObject = [
            "v": 1, "client": .string(Hex.encode(self.clientKey.secretBytes)),
            "signer": .string(self.remoteSigner.hex),
        ]
        if let account { json["account"] = .string(account.hex) }
        do { try SecretFile.write(JSONValue.object(json).json(), to: file) } catch {
            throw WorkerError(.noKey, "the client's key for the remote signer cannot be kept", cause: error)
        }
    }
}
