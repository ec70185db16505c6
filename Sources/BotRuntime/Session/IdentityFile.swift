package import BotConfiguration
import Foundation
import Nostr
package import PikaCore
import ProcessSupport

/// The identity of an account in a file of mode 0600: JSON with `public_key_hex` and one of `secret_key_hex`,
/// `ncryptsec`, `bunker` together with `client_key_hex`, and `wiping`. The first form is that of `pikabot init`.
///
/// A key that logged in unencrypted is stored unencrypted; one that logged in with a password remains encrypted. For an
/// account with a remote signer the file contains the signer's URL including its secret, and the client key by which
/// the signer knows this client.
package struct IdentityFile: Sendable {
    private let path: String

    /// - Parameter path: the path of the file; its folder is created on writing.
    package init(path: String) {
        self.path = path
    }

    /// Returns the identity; nil if the file does not exist.
    ///
    /// Throws if the content is not an identity or exceeds the limit of ``BotConfiguration/ProtectedFile``.
    ///
    /// - Parameter isPrivate: requires that others cannot read the file.
    package func read(isPrivate: Bool) throws(KeyLoadingError) -> AccountIdentity? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let bytes = try ProtectedFile.read(path, isPrivate: isPrivate)
        // The cause is omitted, since the message must not show any part of the key.
        guard let json = try? JSONValue(json: bytes), let identity = AccountIdentity(json) else {
            throw KeyLoadingError(
                .malformed, "\(path): expected an identity and its public key")
        }
        return identity
    }

    /// Replaces the file. Throws ``BotConfiguration/KeyLoadingError`` if it cannot be written, or would exceed the
    /// limit of ``read(isPrivate:)``, as with a remote signer on very many relays.
    package func write(_ identity: AccountIdentity) throws {
        let bytes = identity.json.json()
        guard bytes.count <= ProtectedFile.maximumBytes else {
            throw KeyLoadingError(
                .malformed,
                "\(path): an identity of \(bytes.count) bytes exceeds the limit of \(ProtectedFile.maximumBytes)")
        }
        try PrivateFile<KeyLoadingError>.replace(path, bytes, createsDirectories: true)
    }
}

extension AccountIdentity {
    fileprivate init?(_ json: JSONValue) {
        guard let account = json["public_key_hex"]?.string.flatMap({ try? PublicKey(hex: $0) }) else { return nil }
        if let text = json["secret_key_hex"]?.string {
            guard let key = try? KeyPair(parsing: text), key.publicKey == account else { return nil }
            self = .key(key)
        } else if let text = json["ncryptsec"]?.string {
            guard (try? NIP49.EncryptedKey(parsing: text)) != nil else { return nil }
            self = .encryptedKey(account, ncryptsec: text)
        } else if let text = json["bunker"]?.string {
            guard let url = try? BunkerURL(text),
                let client = json["client_key_hex"]?.string.flatMap({ try? KeyPair(parsing: $0) })
            else { return nil }
            self = .bunker(account, url, client: client)
        } else {
            guard json["wiping"]?.bool == true else { return nil }
            self = .wiping(account)
        }
    }

    fileprivate var json: JSONValue {
        var fields: JSONObject = ["public_key_hex": .string(self.account.hex)]
        switch self {
        case .key(let key): fields["secret_key_hex"] = .string(Hex.encode(key.secretBytes))
        case .encryptedKey(_, let text): fields["ncryptsec"] = .string(text)
        case .bunker(_, let url, let client):
            fields["bunker"] = .string(url.string)
            fields["client_key_hex"] = .string(Hex.encode(client.secretBytes))
        case .wiping: fields["wiping"] = .bool(true)
        }
        return .object(fields)
    }
}
