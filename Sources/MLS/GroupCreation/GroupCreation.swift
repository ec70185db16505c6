import TLSCodec

extension MLSGroup {
    /// Creates a group with one member at epoch 0 (RFC 9420 §11).
    ///
    /// - Parameters:
    ///   - groupID: a new, globally unique id.
    ///   - member: the creator's key package and keys; its init key is not used.
    ///   - extensions: the GroupContext extensions.
    ///   - configuration: this member's limits and padding, and the group's rules.
    ///   - rng: the source of the epoch secret.
    public static func create(
        groupID: GroupID, member: KeyPackageBundle, extensions: [Extension] = [],
        configuration: GroupConfiguration = .init(), using rng: inout some RandomNumberGenerator
    ) throws -> MLSGroup {
        let suite = member.keyPackage.cipherSuite
        try suite.requireSupported()
        try member.requireMatchingKeys()
        let leaf = member.keyPackage.leafNode
        guard !extensions.hasDuplicates else {
            throw MLSError(.invalidCommit, "a GroupContext extension type appears twice (RFC 9420 §13.4)")
        }
        try leaf.validate(GroupRequirements(extensions, configuration.rules))
        var tree = RatchetTree(cipherSuite: suite, leaf: leaf)
        // V11-1: Epoch 0, an empty transcript hash, and a random epoch secret.
        let context = GroupContext(
            cipherSuite: suite, groupID: groupID, epoch: 0, treeHash: tree.rootHash(), confirmedTranscriptHash: [],
            extensions: extensions)
        let secrets = EpochSecrets(suite, epochSecret: .random(count: suite.hashLength, using: &rng))
        let tag = suite.hash.hmac(key: secrets.confirmation, [])
        return MLSGroup(
            context: context, tree: tree, own: PrivateTree(leafIndex: LeafIndex(0), leafKey: member.encryptionKey),
            signatureKey: member.signatureKey, secrets: secrets, confirmationTag: tag, configuration: configuration)
    }

    /// Creates the state of a group at `context`, after creating or joining it.
    init(
        context: GroupContext, tree: RatchetTree, own: PrivateTree, signatureKey: SignaturePrivateKey,
        secrets: EpochSecrets, confirmationTag: [UInt8], configuration: GroupConfiguration
    ) {
        let contextBytes = context.tlsEncoded()
        self.context = context
        self.contextBytes = contextBytes
        self.tree = tree
        self.own = own
        self.signatureKey = signatureKey
        self.secrets = secrets
        self.confirmationTag = confirmationTag
        self.interimTranscriptHash = context.cipherSuite.interimTranscriptHash(
            confirmed: context.confirmedTranscriptHash, confirmationTag: confirmationTag)
        self.messages = EpochMessages(
            epoch: context.epoch, context: contextBytes, senderDataSecret: secrets.senderData,
            secretTree: SecretTree(context.cipherSuite, shape: tree.shape, encryptionSecret: secrets.encryption))
        self.secrets = secrets.withoutEncryption
        self.past = []
        self.pastResumptionSecrets = []
        self.configuration = configuration
        self.markEpochChanged()
    }
}
