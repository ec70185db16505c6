package import Nostr

/// The stored identity of an account: its key, or the way to its key.
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

extension AccountIdentity {
    /// Throws `AppCoreError.Code.notAllowed` if this stored identity must be kept instead of a new one of its account:
    /// the mark of an unfinished deletion always, and a key instead of a remote signer.
    package func requireReplaceable(by new: AccountIdentity) throws(AppCoreError) {
        switch (self, new) {
        case (_, .wiping): return
        case (.wiping, _):
            throw AppCoreError(
                .notAllowed,
                "the deletion of \(self.account.npub) is unfinished; complete it by another logout with erase")
        case (.key, .bunker), (.encryptedKey, .bunker):
            // Any signer can claim any account, and this may be the only copy of the key.
            throw AppCoreError(
                .notAllowed,
                "the key of \(self.account.npub) is stored here, and a remote signer must not replace it; log out with "
                    + "erase first if the key is stored elsewhere")
        default: return
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
