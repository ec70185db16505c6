public import MLS

/// Facts about leaves of the second generation.
extension ProvenLeaf {
    /// Reads a leaf's facts; a dictionary that does not decode is a failure of
    /// ``AccountProofCheck/advertisement``.
    public init(_ leaf: LeafNode, cipherSuite: CipherSuite) throws(AccountProofFailure) {
        let dictionary: AppDataDictionary?
        let components: ComponentsList?
        do throws(MLSError) {
            dictionary = try AppDataDictionary(in: leaf.extensions)
            components = try dictionary?.list(of: .appComponents)
        } catch { throw AccountProofFailure(.advertisement, "the leaf's components: \(error.message)") }
        var identity: [UInt8]?
        if case .basic(let bytes) = leaf.credential { identity = bytes }
        self.init(
            identity: identity, signatureKey: leaf.signatureKey, cipherSuite: cipherSuite.rawValue,
            components: components?.components.map(\.rawValue) ?? [], proof: dictionary?[AccountProof.component],
            hasLegacyProof: leaf.extensions.contains { $0.type.rawValue == ProtocolGeneration.legacyProofExtension })
    }
}

extension LeafSupport {
    /// Reads the numbers that a leaf advertises; throws if its list of components does not decode.
    public init(_ leaf: LeafNode) throws(MLSError) {
        self.init(
            extensions: leaf.capabilities.extensions, proposals: leaf.capabilities.proposals,
            components: try leaf.components().components.map(\.rawValue))
    }
}
