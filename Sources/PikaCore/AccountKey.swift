package import Nostr

/// The location of an account's key: in this process, or with a remote signer.
package enum AccountKey: Sendable {
    case local(KeyPair)
    /// With a remote signer; only the account's public key is known here.
    case remote(PublicKey, any RemoteSigner)

    package var publicKey: PublicKey {
        switch self {
        case .local(let keys): keys.publicKey
        case .remote(let key, _): key
        }
    }

    var signer: (any RemoteSigner)? {
        if case .remote(_, let signer) = self { signer } else { nil }
    }
}
