extension LeafNode {
    /// Performs the checks of RFC 9420 §7.3 that need neither a group nor a signature.
    func validateAlone(_ suite: CipherSuite) throws(MLSError) {
        try suite.kem.validate(publicKey: self.encryptionKey)
        guard !self.extensions.hasDuplicates else {
            throw MLSError(.invalidLeafNode, "a leaf extension type appears twice (RFC 9420 §13.4)")
        }
        // V7.3-6: The leaf's extensions are among its capabilities.
        for entry in self.extensions where !self.capabilities.supports(entry.type) {
            throw MLSError(
                .invalidLeafNode, "leaf extension \(entry.type.rawValue) is not among its own capabilities")
        }
        guard self.capabilities.credentials.contains(self.credential.type) else {
            throw MLSError(
                .invalidLeafNode, "credential type \(self.credential.type) is not among its own capabilities")
        }
        guard self.capabilities.versions.contains(ProtocolVersion.mls10) else {
            throw MLSError(.invalidLeafNode, "the leaf does not support mls10")
        }
        guard self.capabilities.cipherSuites.contains(suite.rawValue) else {
            throw MLSError(.invalidLeafNode, "the leaf does not support cipher suite \(suite)")
        }
    }

    /// Throws unless the leaf supports the group's extensions and requirements (RFC 9420 §7.3, §11.1, §13.4).
    func validate(_ requirements: GroupRequirements) throws(MLSError) {
        // V7.3-3: The leaf supports the group's extensions and requirements.
        // V12.4.3-2: The joiner supports the GroupContext extensions.
        for entry in requirements.extensions where !self.capabilities.supports(entry.type) {
            throw MLSError(
                .invalidLeafNode, "the group uses extension \(entry.type.rawValue), which the leaf does not support")
        }
        if let required = requirements.capabilities, let reason = self.capabilities.missing(from: required) {
            throw MLSError(.invalidLeafNode, reason + " (RFC 9420 §11.1)")
        }
        // X5-2: The leaf lists the components that the GroupContext requires.
        if let required = requirements.components, let missing = try required.firstMissing(in: self.components()) {
            throw MLSError(
                .invalidLeafNode,
                "component \(missing) is required but not in the leaf's app_components (MLS extensions draft §5)")
        }
    }

    /// Returns the components that the leaf lists as supported (MLS extensions draft §5); empty if it has no list.
    ///
    /// - Throws: `MLSError.Code.malformed` if the leaf's dictionary or its list does not decode.
    public func components() throws(MLSError) -> ComponentsList {
        try AppDataDictionary(in: self.extensions)?.list(of: .appComponents) ?? ComponentsList()
    }
}
