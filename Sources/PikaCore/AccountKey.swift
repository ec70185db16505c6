public import Nostr

/// Where the key of an account is, and who uses it.
public enum AccountKey: Sendable {
    case local(KeyPair)
    /// Elsewhere; only the account's public key is known here.
    case remote(PublicKey, any RemoteSigner)

    public var publicKey: PublicKey {
        switch self {
        case .local(let keys): keys.publicKey
        case .remote(let key, _): key
        }
    }

    var signer: (any RemoteSigner)? {
        if case .remote(_, let signer) = self { signer } else { nil }
    }
}
