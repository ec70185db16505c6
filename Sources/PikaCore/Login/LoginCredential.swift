package import Nostr

/// The credential that an account logs in with.
package enum LoginCredential: Sendable, Hashable {
    /// A fresh key of a new account.
    case newKey
    /// A secret key, used in this process.
    case key(KeyPair)
    /// `ncryptsec1…` and its password (NIP-49).
    case encryptedKey(String, password: String)
    /// `bunker://…`: the key stays with a remote signer (NIP-46).
    case bunker(String)
    /// A `nostrconnect://…` invitation shown to the user of a remote signer, with the key of its client (NIP-46). The
    /// login waits until a signer accepts it.
    case invitation(NostrConnectURL, client: KeyPair)
}

/// Never shows any part of a credential, wherever one is described or dumped.
extension LoginCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of credential, without its content.
    package var description: String {
        switch self {
        case .newKey: "newKey"
        case .key: "key (not shown)"
        case .encryptedKey: "encryptedKey (not shown)"
        case .bunker: "bunker (not shown)"
        case .invitation: "invitation (not shown)"
        }
    }
    /// Same as ``description``.
    package var debugDescription: String { self.description }
    /// An empty mirror, so that dumps show no part of the credential.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
