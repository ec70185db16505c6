extension CipherSuite {
    /// Returns the next path secret upward (RFC 9420 §7.4).
    func nextPathSecret(_ secret: Secret) -> Secret { self.deriveSecret(secret, "path") }

    /// Derives the key pair of a node from its path secret (RFC 9420 §7.4).
    func nodeKey(pathSecret: Secret) throws(MLSError) -> HPKEPrivateKey {
        try self.kem.deriveKeyPair(self.deriveSecret(pathSecret, "node"))
    }
}
