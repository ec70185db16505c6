import TLSCodec

/// Creation and application of update paths (RFC 9420 §7.4 to §7.6, §7.9.1).
extension RatchetTree {
    /// Update path that has been created but not yet encrypted.
    struct NewPath {
        let path: [(node: NodeIndex, copath: NodeIndex)]
        /// Secret of each node on the path, from the leaf upward.
        let pathSecrets: [Secret]
        let keys: [HPKEPrivateKey]
        let commitSecret: Secret
        let leaf: LeafNode
    }

    /// Contents and keys of a committer's new leaf.
    struct LeafParameters {
        let groupID: GroupID
        let credential: Credential
        let capabilities: Capabilities
        let extensions: [Extension]
        let signatureKey: SignaturePrivateKey
        let encryptionKey: HPKEPrivateKey
    }

    /// Sets fresh keys from the leaf at `index` to the root, with parent hashes and a signed leaf.
    mutating func setNewPath(
        of index: LeafIndex, leaf parameters: LeafParameters, using rng: inout some RandomNumberGenerator
    ) throws -> NewPath {
        try self.requireUniqueSignatureKey(parameters.signatureKey.publicKey, of: index)
        let path = self.filteredDirectPath(of: index)
        var secrets: [Secret] = []
        var keys: [HPKEPrivateKey] = []
        var secret = Secret.random(count: self.cipherSuite.hashLength, using: &rng)
        for _ in path {
            secrets.append(secret)
            keys.append(try self.cipherSuite.nodeKey(pathSecret: secret))
            secret = self.cipherSuite.nextPathSecret(secret)
        }
        let leafParentHash = self.setPath(of: index, path: path, keys: keys.map(\.publicKey))
        let leaf = try LeafNode(
            encryptionKey: parameters.encryptionKey.publicKey, credential: parameters.credential,
            capabilities: parameters.capabilities, source: .commit(parentHash: leafParentHash),
            extensions: parameters.extensions, position: .init(groupID: parameters.groupID, leafIndex: index),
            signedBy: parameters.signatureKey)
        self.set(.leaf(leaf), at: index.node)
        return NewPath(path: path, pathSecrets: secrets, keys: keys, commitSecret: secret, leaf: leaf)
    }

    /// Replaces the direct path of a leaf by `keys` and computes the parent hashes from the root down
    /// (RFC 9420 §7.5, §7.9.1); returns the parent hash that the leaf must carry.
    private mutating func setPath(
        of index: LeafIndex, path: [(node: NodeIndex, copath: NodeIndex)], keys: [[UInt8]]
    ) -> [UInt8] {
        let onPath = Set(path.map(\.node))
        for ancestor in self.shape.directPath(of: index.node) where !onPath.contains(ancestor) {
            if !self[ancestor].isBlank { self.set(.blank, at: ancestor) }
        }
        var parentHash: [UInt8] = []
        for (step, key) in zip(path, keys).reversed() {
            let node = ParentNode(encryptionKey: key, parentHash: parentHash, unmergedLeaves: [])
            self.set(.parent(node), at: step.node)
            parentHash = self.parentHash(of: node, siblingHash: self.hash(of: step.copath))
        }
        return parentHash
    }

    /// Encrypts a new path's secrets to the members below each copath node, except to `excluded` leaves
    /// (RFC 9420 §7.6). `context` is the provisional GroupContext.
    func encrypt(
        _ new: NewPath, context: [UInt8], excluding excluded: Set<LeafIndex>,
        using rng: inout some RandomNumberGenerator, _ work: any WorkExecutor = SerialWork()
    ) throws -> UpdatePath {
        let hpke = HPKE(self.cipherSuite)
        let info = hpke.encryptContext(label: "UpdatePathNode", context: context)
        var nodes: [UpdatePathNode] = []
        for (position, step) in new.path.enumerated() {
            let sealings = self.resolution(of: step.copath).compactMap { target -> HPKE.Sealing? in
                if let leaf = target.leaf, excluded.contains(leaf) { return nil }
                return self[target].encryptionKey.map {
                    HPKE.Sealing(plaintext: new.pathSecrets[position], publicKey: $0)
                }
            }
            let ciphertexts = try hpke.seal(sealings, info: info, using: &rng, work)
            nodes.append(
                UpdatePathNode(
                    encryptionKey: new.keys[position].publicKey, encryptedPathSecrets: PathCiphertexts(ciphertexts)))
        }
        return UpdatePath(leafNode: new.leaf, nodes: nodes)
    }

    /// Applies another member's path: public keys, parent hashes and leaf (RFC 9420 §7.5, §12.4.2).
    mutating func apply(_ update: UpdatePath, from sender: LeafIndex) throws(MLSError) {
        let path = self.filteredDirectPath(of: sender)
        // V12.4.2-8: The path has a node for each of the filtered direct path.
        guard path.count == update.nodes.count else {
            throw MLSError(
                .invalidCommit,
                "the update path has \(update.nodes.count) nodes, \(path.count) are needed (RFC 9420 §7.5)"
            )
        }
        // V12.4.2-7: No public key of the path is in the tree.
        try self.requireNewKeys(update)
        try self.requireUniqueSignatureKey(update.leafNode.signatureKey, of: sender)
        let parentHash = self.setPath(of: sender, path: path, keys: update.nodes.map(\.encryptionKey))
        // V7.3-9: The leaf of a path is of source commit.
        // V12.4.2-10: The leaf carries the recomputed parent hash.
        guard case .commit(let carried) = update.leafNode.source, carried == parentHash else {
            throw MLSError(
                .invalidCommit, "the committer's leaf does not carry the path's parent hash (RFC 9420 §7.9.2)")
        }
        self.set(.leaf(update.leafNode), at: sender.node)
    }

    /// Checks RFC 9420 §7.3: no other leaf has the path leaf's signature key. An unchanged key was checked before.
    private func requireUniqueSignatureKey(_ key: [UInt8], of index: LeafIndex) throws(MLSError) {
        guard key != self.leaf(index)?.signatureKey else { return }
        // V7.3-10: The signature_key is unique among the members.
        for case .leaf(let other) in self.nodes where other.signatureKey == key {
            throw MLSError(
                .invalidLeafNode,
                "the signature_key of the committer's new leaf belongs to another leaf (RFC 9420 §7.3)")
        }
    }

    /// Checks RFC 9420 §12.4.2: no public key of the path occurs in the tree, or twice in the path.
    private func requireNewKeys(_ update: UpdatePath) throws(MLSError) {
        var fresh = KeyFilter(capacity: update.nodes.count + 1)
        _ = fresh.insert(update.leafNode.encryptionKey)
        for node in update.nodes {
            try self.cipherSuite.kem.validate(publicKey: node.encryptionKey)
            guard fresh.insert(node.encryptionKey) else {
                throw MLSError(.invalidCommit, "an encryption_key appears twice in the update path (RFC 9420 §12.4.2)")
            }
        }
        // V7.3-11: The encryption_key is unique among the members.
        for (position, ending) in self.keyEndings.encryption.enumerated() where fresh.mayContain(ending: ending) {
            if let key = self.nodes[position].encryptionKey, fresh.contains(key) {
                throw MLSError(
                    .invalidCommit, "an encryption_key of the update path is already in the tree (RFC 9420 §12.4.2)")
            }
        }
    }

    /// Decrypts the path secret meant for `own` and derives the keys from there to the root (RFC 9420 §7.6).
    ///
    /// The path must already be applied to this tree. It was not encrypted to `added` leaves.
    func decrypt(
        _ update: UpdatePath, from sender: LeafIndex, own: inout PrivateTree, context: [UInt8],
        excluding added: Set<LeafIndex>
    ) throws(MLSError) -> Secret {
        let path = self.filteredDirectPath(of: sender)
        let ownRange = Int(own.leafIndex.rawValue)
        guard let position = path.firstIndex(where: { $0.node.leafRange.contains(ownRange) }) else {
            throw MLSError(.invalidCommit, "the update path does not reach this member (RFC 9420 §7.6)")
        }
        let targets = self.resolution(of: path[position].copath).filter { target in
            target.leaf.map { !added.contains($0) } ?? true
        }
        let ciphertexts = update.nodes[position].encryptedPathSecrets
        // V12.4.2-9: The path secret is sealed for each node of the resolution.
        guard ciphertexts.count == targets.count else {
            throw MLSError(
                .invalidCommit, "a path node has \(ciphertexts.count) ciphertexts, \(targets.count) are needed")
        }
        // Not simply the first node above this leaf: a member added as unmerged holds no key for it (RFC 9420 §7.6).
        guard let slot = targets.firstIndex(where: { own.key(for: $0) != nil }), let key = own.key(for: targets[slot])
        else {
            throw MLSError(.invalidCommit, "no path secret is encrypted to a key of this member (RFC 9420 §7.6)")
        }
        let hpke = HPKE(self.cipherSuite)
        let secret = try hpke.open(
            ciphertexts[slot], with: key, info: hpke.encryptContext(label: "UpdatePathNode", context: context))
        return try self.deriveUpward(secret, path: path[position...].map(\.node), own: &own)
    }

    /// Derives keys from a path secret for each node of `path`, checks their public halves, and returns the commit
    /// secret (RFC 9420 §7.4).
    func deriveUpward(_ secret: Secret, path: [NodeIndex], own: inout PrivateTree) throws(MLSError) -> Secret {
        var secret = secret
        for node in path {
            let key = try self.cipherSuite.nodeKey(pathSecret: secret)
            // V12.4.2-9: The path secrets derive the public keys.
            guard self[node].encryptionKey == key.publicKey else {
                throw MLSError(
                    .invalidCommit, "a path secret does not match the public key of node \(node.value) (RFC 9420 §7.6)")
            }
            own.pathKeys[node.value] = key
            secret = self.cipherSuite.nextPathSecret(secret)
        }
        return secret
    }
}
