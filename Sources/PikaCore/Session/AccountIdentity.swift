package import Nostr

/// The stored identity of a logged-in account, which ``AppAction/restoreSession`` resumes.
package enum AccountIdentity: Sendable, Hashable {
    /// The key itself. The identity store is responsible for its protection.
    case key(KeyPair)
    /// The key encrypted with a password (NIP-49), `ncryptsec1…`, and its account.
    case encryptedKey(PublicKey, ncryptsec: String)
    /// The key is with a remote signer (NIP-46): the account, the signer's address, and the client key, which must be
    /// protected like an account's own key.
    case bunker(PublicKey, BunkerURL, client: KeyPair)
    /// The account's data is being deleted; its key is already gone.
    case wiping(PublicKey)

    package var account: PublicKey {
        switch self {
        case .key(let key): key.publicKey
        case .encryptedKey(let account, _), .bunker(let account, _, _), .wiping(let account): account
        }
    }
}

/// Shows the account only.
extension AccountIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        switch self {
        case .key: "the key of \(self.account)"
        case .encryptedKey: "the encrypted key of \(self.account)"
        case .bunker: "the remote signer of \(self.account)"
        case .wiping: "\(self.account), being wiped"
        }
    }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: ["account": self.account]) }
}
