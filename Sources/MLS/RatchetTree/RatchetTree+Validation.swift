/// Validation of a whole tree when joining (RFC 9420 §12.4.3.1, §7.3, §7.9.2).
extension RatchetTree {
    /// Checks structure, parent hashes, every leaf and its signature.
    ///
    /// Takes time linear in the number of members, plus the cost of unmerged leaves.
    mutating func validate(
        groupID: GroupID, extensions: [Extension], rules: GroupRules = .init(),
        with work: any WorkExecutor = SerialWork()
    ) throws(MLSError) {
        try self.validateUnmergedLeaves()
        try self.verifyParentHashes()
        try self.validateUniqueKeys()
        try self.validateLeaves(groupID: groupID, GroupRequirements(extensions, rules), with: work)
    }

    /// Requires unique signature keys among leaves, and unique encryption keys among all nodes (RFC 9420 §12.4.3.1,
    /// §7.3).
    func validateUniqueKeys() throws(MLSError) {
        var encryptionKeys: Set<[UInt8]> = []
        var signatureKeys: Set<[UInt8]> = []
        for node in self.nodes {
            // V7.3-11: The encryption_key is unique among the members.
            // V12.4.3.1-9: The key of a parent node occurs in no other node.
            if let key = node.encryptionKey, !encryptionKeys.insert(key).inserted {
                throw MLSError(.invalidTree, "two nodes have the same encryption_key (RFC 9420 §7.3)")
            }
            // V7.3-10: The signature_key is unique among the members.
            if case .leaf(let leaf) = node, !signatureKeys.insert(leaf.signatureKey).inserted {
                throw MLSError(.invalidTree, "two leaves have the same signature_key (RFC 9420 §7.3)")
            }
        }
    }

    private func validateLeaves(
        groupID: GroupID, _ requirements: GroupRequirements, with work: any WorkExecutor
    ) throws(MLSError) {
        try self.validateCredentialSupport()
        // V12.4.3.1-7: Every leaf is valid.
        let suite = self.cipherSuite
        let failure = work.firstError(in: self.members) { member throws(MLSError) in
            try member.leaf.validateAlone(suite)
            try member.leaf.validate(requirements)
            let position = LeafNode.Position(groupID: groupID, leafIndex: member.index)
            guard member.leaf.hasValidSignature(suite, position: position) else {
                throw MLSError(.badSignature, "the signature of leaf \(member.index) does not verify (RFC 9420 §7.3)")
            }
        }
        if let failure { throw failure }
    }

    /// Runs ``validateCredentialSupport()`` after one leaf changed, only if its credential types changed.
    func validateCredentialSupport(after leaf: LeafNode, replaces old: LeafNode) throws(MLSError) {
        guard
            leaf.credential.type != old.credential.type || leaf.capabilities.credentials != old.capabilities.credentials
        else { return }
        try self.validateCredentialSupport()
    }

    /// Requires that every member supports every credential type in use (RFC 9420 §7.3).
    func validateCredentialSupport() throws(MLSError) {
        // Rarely more than one type, so an array is faster than a set.
        var inUse: [UInt16] = []
        for case .leaf(let leaf) in self.nodes where !inUse.contains(leaf.credential.type) {
            inUse.append(leaf.credential.type)
        }
        // V7.3-4: Every member supports every credential type in use.
        for case .leaf(let leaf) in self.nodes {
            guard inUse.allSatisfy(leaf.capabilities.credentials.contains) else {
                throw MLSError(.invalidLeafNode, "a leaf does not support every credential type in use (RFC 9420 §7.3)")
            }
        }
    }

    /// Checks RFC 9420 §12.4.3.1: each unmerged leaf is below its node, not blank, and unmerged in all nodes between.
    func validateUnmergedLeaves() throws(MLSError) {
        // Check that all lists are ascending before searching any: a Welcome's sender chooses their order and length.
        for position in stride(from: 1, to: self.nodes.count, by: 2) {
            guard let parent = self.parent(NodeIndex(position)) else { continue }
            let range = NodeIndex(position).leafRange
            var previous: UInt32?
            for leaf in parent.unmergedLeaves {
                // V12.4.3.1-8: Unmerged leaves are occupied and below their node.
                guard previous.map({ $0 < leaf }) ?? true, range.contains(Int(leaf)),
                    self.leaf(LeafIndex(rawValue: leaf)) != nil
                else {
                    throw MLSError(
                        .invalidTree,
                        "unmerged leaf \(leaf) of node \(position) is unordered, blank or outside its subtree")
                }
                previous = leaf
            }
        }
        for position in stride(from: 1, to: self.nodes.count, by: 2) {
            let index = NodeIndex(position)
            for leaf in self.parent(index)?.unmergedLeaves ?? [] {
                try self.requireUnmerged(leaf, from: LeafIndex(rawValue: leaf).node.parent, upTo: index)
            }
        }
    }

    private func requireUnmerged(_ leaf: UInt32, from lowest: NodeIndex, upTo top: NodeIndex) throws(MLSError) {
        var node = lowest
        while node != top {
            // V12.4.3.1-8: Unmerged leaves are unmerged in between.
            if let parent = self.parent(node), !parent.unmergedLeaves.containsAscending(leaf) {
                throw MLSError(
                    .invalidTree,
                    "leaf \(leaf) is unmerged in node \(top.value) but not in node \(node.value) below it")
            }
            node = node.parent
        }
    }
}
