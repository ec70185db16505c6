/// Key package whose signatures, keys and lifetime have been verified (RFC 9420 §10.1).
public struct VerifiedKeyPackage: Hashable, Sendable {
    /// The verified key package.
    public let keyPackage: KeyPackage

    /// The leaf that the client gets in a group.
    public var leafNode: LeafNode { self.keyPackage.leafNode }
}

extension KeyPackage {
    /// Performs all checks that need no group (RFC 9420 §10.1, §7.3).
    ///
    /// - Parameter now: Unix seconds; nil skips the lifetime check, for replaying recorded packages.
    public func verified(now: UInt64?) throws(MLSError) -> VerifiedKeyPackage {
        // V11-2: The suite is supported.
        try self.cipherSuite.requireSupported()
        try self.cipherSuite.kem.validate(publicKey: self.initKey)
        // V10.1-4: The init_key differs from the encryption_key.
        guard self.initKey != self.leafNode.encryptionKey else {
            throw MLSError(.invalidKeyPackage, "init_key equals the leaf's encryption_key (RFC 9420 §10.1)")
        }
        // V7.3-7: The leaf is of source key_package.
        guard case .keyPackage(let lifetime) = self.leafNode.source else {
            throw MLSError(.invalidKeyPackage, "leaf_node_source of a key package must be key_package (RFC 9420 §7.3)")
        }
        // V7.3-5: The lifetime contains the present.
        if let now, !lifetime.contains(now) {
            throw MLSError(
                now < lifetime.notBefore ? .notYetValid : .expired,
                "key package is valid from \(lifetime.notBefore) to \(lifetime.notAfter), and now is \(now)")
        }
        guard !self.extensions.hasDuplicates else {
            throw MLSError(.invalidKeyPackage, "a key package extension type appears twice (RFC 9420 §13.4)")
        }
        for entry in self.extensions where !self.leafNode.capabilities.supports(entry.type) {
            throw MLSError(
                .invalidKeyPackage,
                "key package extension \(entry.type.rawValue) is not among the leaf's capabilities (RFC 9420 §13.4)")
        }
        // V10.1-2: The leaf is valid for a KeyPackage.
        try self.leafNode.validateAlone(self.cipherSuite)
        guard self.leafNode.hasValidSignature(self.cipherSuite, position: nil) else {
            throw MLSError(.badSignature, "the signature of a key package's leaf does not verify (RFC 9420 §7.3)")
        }
        // V10.1-3: The signature verifies with the leaf's key.
        guard self.hasValidSignature() else {
            throw MLSError(.badSignature, "the signature of a key package does not verify (RFC 9420 §10.1)")
        }
        return VerifiedKeyPackage(keyPackage: self)
    }
}
