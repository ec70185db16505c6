public import Nostr

/// What is kept of an account that is logged in, so that ``AppAction/restoreSession`` can go on with it.
public enum AccountIdentity: Sendable, Hashable {
    /// The key itself. Whoever keeps this answers for the place where it is kept.
    case key(KeyPair)
    /// The key under a password (NIP-49), `ncryptsec1…`, and whose it is.
    case encryptedKey(PublicKey, ncryptsec: String)
    /// The key is with a remote signer (NIP-46): whose it is, where the signer is, and the key that it knows us by, which
    /// is a secret as the account's own would be.
    case bunker(PublicKey, BunkerURL, client: KeyPair)
    /// The account's data is being deleted; its key is gone already.
    case wiping(PublicKey)

    public var account: PublicKey {
        switch self {
        case .key(let key): key.publicKey
        case .encryptedKey(let account, _), .bunker(let account, _, _), .wiping(let account): account
        }
    }
}

/// Nothing but the account is shown.
extension AccountIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .key: "the key of \(self.account)"
        case .encryptedKey: "the encrypted key of \(self.account)"
        case .bunker: "the remote signer of \(self.account)"
        case .wiping: "\(self.account), being wiped"
        }
    }
    public var debugDescription: String { self.description }
    public var customMirror: Mirror { Mirror(self, children: ["account": self.account]) }
}
