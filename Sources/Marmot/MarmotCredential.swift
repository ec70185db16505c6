public import MLS
public import Nostr

/// A Nostr identity as an MLS basic credential: the 32 raw bytes of the x-only public key (MIP-00).
extension PublicKey {
    /// The key as an MLS basic credential.
    public var credential: Credential { .basic(identity: self.bytes) }
}

extension LeafNode {
    /// Returns the Nostr identity of a member, or throws `MarmotError.Code.badCredential`.
    public func identity() throws(MarmotError) -> PublicKey {
        // V7.3-1: The credential is basic, with a Nostr public key.
        guard let key = self.statedIdentity, key.isOnCurve else {
            throw MarmotError(.badCredential, "expected a basic credential with a 32-byte Nostr public key")
        }
        return key
    }

    /// Identity that the credential states. It may not be a point on the curve: checking costs a square root.
    var statedIdentity: PublicKey? {
        guard case .basic(let bytes) = self.credential else { return nil }
        return try? PublicKey(bytes: bytes)
    }
}
