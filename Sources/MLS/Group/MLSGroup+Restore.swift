import TLSCodec

/// Restoring a stored group.
extension MLSGroup {
    /// Restores a group from all of its records, or throws `MLSError.Code.invalidStoredForm`.
    public init(records: [GroupRecord: Secret]) throws(MLSError) {
        do { try self.init(reading: records) } catch { throw MLSError(.invalidStoredForm, error.message) }
    }

    private init(reading records: [GroupRecord: Secret]) throws(MLSError) {
        guard let core = records[.core] else {
            throw MLSError(.invalidStoredForm, "the record 'core' is missing")
        }
        let fields: StoredCore
        do { fields = try core.decode(StoredCore.init(from:)) } catch {
            throw MLSError(.invalidStoredForm, "record core: \(error)")
        }
        let suite = fields.context.cipherSuite
        try suite.requireSupported()
        var past: [EpochMessages] = []
        for epoch in fields.pastEpochs { past.append(try Self.restoreMessages(records, suite, epoch: epoch)) }
        try self.init(
            fields, tree: try Self.restoreTree(records, suite, leafCount: fields.leafCount),
            messages: try Self.restoreMessages(records, suite, epoch: fields.context.epoch), past: past)
    }

    /// Assembles a group from decoded records, and checks it.
    init(
        _ fields: StoredCore, tree: RatchetTree, messages: EpochMessages, past: [EpochMessages]
    ) throws(MLSError) {
        let suite = fields.context.cipherSuite
        self.context = fields.context
        self.contextBytes = fields.context.tlsEncoded()
        self.tree = tree
        self.own = PrivateTree(
            leafIndex: fields.leafIndex, leafKey: try HPKEPrivateKey(suite.kem, bytes: fields.leafKey))
        for (node, key) in fields.pathKeys { self.own.pathKeys[node] = try HPKEPrivateKey(suite.kem, bytes: key) }
        self.signatureKey = try SignaturePrivateKey(suite, secret: fields.signatureKey)
        self.secrets = try EpochSecrets(stored: fields.secrets)
        self.confirmationTag = fields.confirmationTag
        self.interimTranscriptHash = suite.interimTranscriptHash(
            confirmed: fields.context.confirmedTranscriptHash, confirmationTag: fields.confirmationTag)
        self.messages = messages
        self.past = past
        self.pastResumptionSecrets = fields.pastResumptionSecrets
        self.proposals = fields.proposals
        for (encryption, signature) in fields.pendingLeafKeys {
            self.pendingLeafKeys.append(
                PendingLeafKeys(
                    encryptionKey: try HPKEPrivateKey(suite.kem, bytes: encryption),
                    signatureKey: try SignaturePrivateKey(suite, secret: signature)))
        }
        self.configuration = fields.configuration
        self.isReinitialized = fields.isReinitialized
        self.tree.markStored()
        try self.requireConsistency()
    }

    /// Checks the invariants that the rest of the library relies on, so that damaged records cannot trap later.
    private mutating func requireConsistency() throws(MLSError) {
        guard self.tree.rootHash() == self.context.treeHash else {
            throw MLSError(.invalidStoredForm, "the stored ratchet tree does not match the stored context")
        }
        guard let leaf = self.tree.leaf(self.own.leafIndex), leaf.encryptionKey == self.own.leafKey.publicKey,
            leaf.signatureKey == self.signatureKey.publicKey
        else { throw MLSError(.invalidStoredForm, "the stored private keys do not belong to this member's leaf") }
        guard self.messages.context == self.contextBytes else {
            throw MLSError(.invalidStoredForm, "the stored epoch does not match the stored context")
        }
        for messages in [self.messages] + self.past where !messages.secretTree.isWellFormed {
            throw MLSError(.invalidStoredForm, "the secret tree of epoch \(messages.epoch) has gaps or overlaps")
        }
    }

    private static func restoreTree(
        _ records: [GroupRecord: Secret], _ suite: CipherSuite, leafCount: Int
    ) throws(MLSError) -> RatchetTree {
        guard TreeShape.isValid(leafCount: leafCount) else {
            throw MLSError(.invalidStoredForm, "the stored tree has \(leafCount) leaves, not a power of two")
        }
        var nodes: [RatchetTree.Node] = Array(repeating: .blank, count: 2 * leafCount - 1)
        for (name, content) in records {
            guard case .node(let index) = name, nodes.indices.contains(index) else { continue }
            do {
                nodes[index] = try content.decode { (reader: inout TLSReader) throws(TLSCodecError) in
                    try RatchetTree.node(from: &reader, isLeaf: index & 1 == 0)
                }
            } catch { throw MLSError(.invalidStoredForm, "record \(name): \(error)") }
        }
        return RatchetTree(cipherSuite: suite, nodes: nodes)
    }

    static func restoreMessages(
        _ records: [GroupRecord: Secret], _ suite: CipherSuite, epoch: Epoch
    ) throws(MLSError) -> EpochMessages {
        guard let header = records[.epoch(epoch)] else {
            throw MLSError(.invalidStoredForm, "the record 'epoch/\(epoch)' is missing")
        }
        var nodeSecrets: [Int: Secret] = [:]
        var ratchets: [UInt32: LeafRatchets] = [:]
        do {
            for (name, content) in records {
                switch name {
                case .treeSecret(epoch, let node):
                    nodeSecrets[node] = try content.decode { (reader: inout TLSReader) throws(TLSCodecError) in
                        try reader.readSecret()
                    }
                case .ratchets(epoch, let leaf): ratchets[leaf] = try content.decode(LeafRatchets.init(from:))
                default: continue
                }
            }
            let fields = try header.decode(StoredEpoch.init(from:))
            var messages = EpochMessages(
                epoch: epoch, context: fields.context, senderDataSecret: fields.senderDataSecret,
                secretTree: SecretTree(
                    suite, shape: TreeShape(leafCount: fields.leafCount), nodeSecrets: nodeSecrets, ratchets: ratchets))
            messages.replacedLeaves = fields.replacedLeaves
            return messages
        } catch { throw MLSError(.invalidStoredForm, "records of epoch \(epoch): \(error)") }
    }
}

/// The fields of a record `epoch/…`, in the order in which they are written.
private struct StoredEpoch {
    let context: [UInt8]
    let senderDataSecret: Secret
    let leafCount: Int
    let replacedLeaves: [LeafIndex: LeafNode?]

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.context = try reader.readOpaque()
        self.senderDataSecret = try reader.readSecret()
        let start = reader.offset
        self.leafCount = Int(try reader.readUInt32())
        guard TreeShape.isValid(leafCount: self.leafCount) else {
            throw TLSCodecError(
                .invalidValue, offset: start, "the secret tree has \(self.leafCount) leaves, not a power of two")
        }
        self.replacedLeaves = try reader.readVector {
            (inner: inout TLSReader) throws(TLSCodecError) -> [LeafIndex: LeafNode?] in
            var replaced: [LeafIndex: LeafNode?] = [:]
            while !inner.isAtEnd {
                let index = try LeafIndex(from: &inner)
                replaced[index] = .some(try inner.readOptional(LeafNode.self))
            }
            return replaced
        }
    }
}

/// The fields of the record `core`, in the order in which they are written.
struct StoredCore {
    let context: GroupContext
    let leafCount: Int
    let leafIndex: LeafIndex
    let leafKey: Secret
    let pathKeys: [(Int, Secret)]
    let signatureKey: Secret
    let secrets: [Secret]
    let confirmationTag: [UInt8]
    let pastEpochs: [Epoch]
    let pastResumptionSecrets: [(epoch: Epoch, secret: Secret)]
    let proposals: [MLSGroup.CachedProposal]
    let pendingLeafKeys: [(Secret, Secret)]
    let configuration: GroupConfiguration
    let isReinitialized: Bool

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        let version = try reader.readUInt16()
        guard version == 1 || version == 2 else {
            throw TLSCodecError(
                .invalidValue, offset: 0, "stored form has version \(version), this library reads 1 and 2")
        }
        self.context = try GroupContext(from: &reader)
        self.leafCount = Int(try reader.readUInt32())
        self.leafIndex = try LeafIndex(from: &reader)
        self.leafKey = try reader.readSecret()
        self.pathKeys = try reader.readElements { (inner: inout TLSReader) throws(TLSCodecError) in
            (Int(try inner.readUInt32()), try inner.readSecret())
        }
        self.signatureKey = try reader.readSecret()
        self.secrets = try reader.readElements { (inner: inout TLSReader) throws(TLSCodecError) in
            try inner.readSecret()
        }
        self.confirmationTag = try reader.readOpaque()
        self.pastEpochs = try reader.readElements { (inner: inout TLSReader) throws(TLSCodecError) in
            try Epoch(from: &inner)
        }
        self.pastResumptionSecrets = try reader.readElements { (inner: inout TLSReader) throws(TLSCodecError) in
            (try Epoch(from: &inner), try inner.readSecret())
        }
        self.proposals = try reader.readVector(of: MLSGroup.CachedProposal.self)
        self.pendingLeafKeys = try reader.readElements { (inner: inout TLSReader) throws(TLSCodecError) in
            (try inner.readSecret(), try inner.readSecret())
        }
        var configuration = GroupConfiguration(
            outOfOrderTolerance: try reader.readUInt32(), maximumForwardDistance: try reader.readUInt32(),
            maximumPastEpochs: Int(try reader.readUInt32()), paddingSize: Int(try reader.readUInt32()))
        self.isReinitialized = try reader.readUInt8() != 0
        if version == 2 { configuration.rules = try GroupRules(from: &reader) }
        self.configuration = configuration
    }
}
