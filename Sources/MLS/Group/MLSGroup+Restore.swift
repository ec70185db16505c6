import TLSCodec

/// Reading a stored group back.
extension MLSGroup {
    /// Restores a group from all of its records.
    public init(records: [GroupRecord: Secret]) throws(MLSError) {
        guard let core = records[.core] else {
            throw MLSError(.invalidStoredForm, "the record 'core' is missing")
        }
        let fields: StoredCore
        do { fields = try StoredCore(tlsEncoded: core.copyBytes()) } catch {
            throw MLSError(.invalidStoredForm, "record core: \(error)")
        }
        let suite = fields.context.cipherSuite
        try suite.requireSupported()
        self.context = fields.context
        self.contextBytes = fields.context.tlsEncoded()
        self.tree = try Self.restoreTree(records, suite, leafCount: fields.leafCount)
        self.own = PrivateTree(
            leafIndex: fields.leafIndex, leafKey: try HPKEPrivateKey(suite.kem, bytes: fields.leafKey))
        for (node, key) in fields.pathKeys { self.own.pathKeys[node] = try HPKEPrivateKey(suite.kem, bytes: key) }
        self.signatureKey = try SignaturePrivateKey(suite, bytes: fields.signatureKey.copyBytes())
        self.secrets = try EpochSecrets(stored: fields.secrets)
        self.confirmationTag = fields.confirmationTag
        self.interimTranscriptHash = suite.interimTranscriptHash(
            confirmed: fields.context.confirmedTranscriptHash, confirmationTag: fields.confirmationTag)
        self.messages = try Self.restoreMessages(records, suite, epoch: fields.context.epoch)
        self.past = []
        for epoch in fields.pastEpochs { self.past.append(try Self.restoreMessages(records, suite, epoch: epoch)) }
        self.pastResumptionSecrets = fields.pastResumptionSecrets
        self.proposals = fields.proposals
        for (encryption, signature) in fields.pendingLeafKeys {
            self.pendingLeafKeys.append(
                PendingLeafKeys(
                    encryptionKey: try HPKEPrivateKey(suite.kem, bytes: encryption),
                    signatureKey: try SignaturePrivateKey(suite, bytes: signature.copyBytes())))
        }
        self.configuration = fields.configuration
        self.tree.markStored()
        guard self.tree.rootHash() == self.context.treeHash, self.tree.leaf(self.own.leafIndex) != nil else {
            throw MLSError(.invalidStoredForm, "the stored ratchet tree does not match the stored context")
        }
    }

    private static func restoreTree(
        _ records: [GroupRecord: Secret], _ suite: CipherSuite, leafCount: Int
    ) throws(MLSError) -> RatchetTree {
        guard leafCount > 0, leafCount & (leafCount - 1) == 0, leafCount <= 1 << 22 else {
            throw MLSError(.invalidStoredForm, "the stored tree has \(leafCount) leaves, not a power of two")
        }
        var nodes: [RatchetTree.Node] = Array(repeating: .blank, count: 2 * leafCount - 1)
        for (name, content) in records {
            guard case .node(let index) = name, nodes.indices.contains(index) else { continue }
            do {
                var reader = TLSReader(content.copyBytes())
                nodes[index] = try RatchetTree.node(from: &reader, isLeaf: index & 1 == 0)
                try reader.finish()
            } catch { throw MLSError(.invalidStoredForm, "record \(name): \(error)") }
        }
        return RatchetTree(cipherSuite: suite, nodes: nodes)
    }

    private static func restoreMessages(
        _ records: [GroupRecord: Secret], _ suite: CipherSuite, epoch: UInt64
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
                    var reader = TLSReader(content.copyBytes())
                    nodeSecrets[node] = Secret(try reader.readOpaque())
                case .ratchets(epoch, let leaf):
                    var reader = TLSReader(content.copyBytes())
                    ratchets[leaf] = try LeafRatchets(from: &reader)
                    try reader.finish()
                default: continue
                }
            }
            var reader = TLSReader(header.copyBytes())
            let context = try reader.readOpaque()
            let senderData = Secret(try reader.readOpaque())
            let shape = TreeShape(leafCount: Int(try reader.readUInt32()))
            var messages = EpochMessages(
                epoch: epoch, context: context, senderDataSecret: senderData,
                secretTree: SecretTree(suite, shape: shape, nodeSecrets: nodeSecrets, ratchets: ratchets))
            messages.replacedLeaves = try reader.readVector {
                (inner: inout TLSReader) throws(TLSCodecError) -> [LeafIndex: LeafNode?] in
                var replaced: [LeafIndex: LeafNode?] = [:]
                while !inner.isAtEnd {
                    let index = try LeafIndex(from: &inner)
                    replaced[index] = .some(try inner.readOptional(LeafNode.self))
                }
                return replaced
            }
            return messages
        } catch { throw MLSError(.invalidStoredForm, "records of epoch \(epoch): \(error)") }
    }
}

/// The fields of the record `core`, in the order in which they are written.
private struct StoredCore: TLSDecodable {
    let context: GroupContext
    let leafCount: Int
    let leafIndex: LeafIndex
    let leafKey: Secret
    let pathKeys: [(Int, Secret)]
    let signatureKey: Secret
    let secrets: [Secret]
    let confirmationTag: [UInt8]
    let pastEpochs: [UInt64]
    let pastResumptionSecrets: [(epoch: UInt64, secret: Secret)]
    let proposals: [MLSGroup.CachedProposal]
    let pendingLeafKeys: [(Secret, Secret)]
    let configuration: GroupConfiguration

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        let version = try reader.readUInt16()
        guard version == 1 else {
            throw TLSCodecError(.invalidValue, offset: 0, "stored form has version \(version), this library reads 1")
        }
        self.context = try GroupContext(from: &reader)
        self.leafCount = Int(try reader.readUInt32())
        self.leafIndex = try LeafIndex(from: &reader)
        self.leafKey = Secret(try reader.readOpaque())
        self.pathKeys = try reader.readList { (inner: inout TLSReader) throws(TLSCodecError) in
            (Int(try inner.readUInt32()), Secret(try inner.readOpaque()))
        }
        self.signatureKey = Secret(try reader.readOpaque())
        self.secrets = try reader.readList { (inner: inout TLSReader) throws(TLSCodecError) in
            Secret(try inner.readOpaque())
        }
        self.confirmationTag = try reader.readOpaque()
        self.pastEpochs = try reader.readList { (inner: inout TLSReader) throws(TLSCodecError) in
            try inner.readUInt64()
        }
        self.pastResumptionSecrets = try reader.readList { (inner: inout TLSReader) throws(TLSCodecError) in
            (try inner.readUInt64(), Secret(try inner.readOpaque()))
        }
        self.proposals = try reader.readVector(of: MLSGroup.CachedProposal.self)
        self.pendingLeafKeys = try reader.readList { (inner: inout TLSReader) throws(TLSCodecError) in
            (Secret(try inner.readOpaque()), Secret(try inner.readOpaque()))
        }
        self.configuration = GroupConfiguration(
            outOfOrderTolerance: try reader.readUInt32(), maximumForwardDistance: try reader.readUInt32(),
            maximumPastEpochs: Int(try reader.readUInt32()), paddingSize: Int(try reader.readUInt32()))
    }
}

extension TLSReader {
    /// Reads a vector element by element.
    fileprivate mutating func readList<Element>(
        _ element: (inout TLSReader) throws(TLSCodecError) -> Element
    ) throws(TLSCodecError) -> [Element] {
        try self.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> [Element] in
            var elements: [Element] = []
            while !inner.isAtEnd { elements.append(try element(&inner)) }
            return elements
        }
    }
}
