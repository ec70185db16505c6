extension CipherSuite {
    /// The next path secret upward (RFC 9420 §7.4).
    func nextPathSecret(_ secret: Secret) -> Secret { self.deriveSecret(secret, "path") }

    /// The key pair of a node with this path secret (RFC 9420 §7.4).
    func nodeKey(pathSecret: Secret) throws(MLSError) -> HPKEPrivateKey {
        try self.kem.deriveKeyPair(self.deriveSecret(pathSecret, "node"))
    }
}
