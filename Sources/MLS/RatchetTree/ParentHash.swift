import TLSCodec

// struct {
//     HPKEPublicKey encryption_key;
//     opaque parent_hash<V>;
//     opaque original_sibling_tree_hash<V>;
// } ParentHashInput;

extension RatchetTree {
    /// The parent hash of a node with respect to the child whose sibling hashes to `siblingHash` (RFC 9420 §7.9).
    func parentHash(of parent: ParentNode, siblingHash: [UInt8]) -> [UInt8] {
        var writer = TLSWriter(capacity: 160)
        writer.writeOpaque(parent.encryptionKey)
        writer.writeOpaque(parent.parentHash)
        writer.writeOpaque(siblingHash)
        return self.cipherSuite.hash.digest(writer.bytes)
    }

    /// Checks that every parent node was set by someone below it (RFC 9420 §7.9.2). Hashes the tree first.
    mutating func verifyParentHashes() throws(MLSError) {
        _ = self.rootHash()
        for position in stride(from: 1, to: self.nodes.count, by: 2) {
            let index = NodeIndex(position)
            guard let parent = self.parent(index), let left = index.left, let right = index.right else { continue }
            guard
                self.isParentHash(of: parent, carriedBelow: left, sibling: right)
                    || self.isParentHash(of: parent, carriedBelow: right, sibling: left)
            else {
                throw MLSError(
                    .invalidTree, "no child of node \(position) carries its parent hash (RFC 9420 §7.9.2)")
            }
        }
    }

    private func isParentHash(of parent: ParentNode, carriedBelow child: NodeIndex, sibling: NodeIndex) -> Bool {
        let range = child.leafRange
        let unmergedBelow = parent.unmergedLeaves.filter { range.contains(Int($0)) }
        let unmerged = Set(unmergedBelow.map { Int($0) * 2 })
        var holder: NodeIndex?
        var found = 0
        for node in self.resolution(of: child) {
            if unmerged.contains(node.value) {
                found += 1
            } else if holder == nil {
                holder = node
            } else {
                return false
            }
        }
        guard let holder, found == unmerged.count, let carried = self.carriedParentHash(holder) else { return false }
        return carried
            == self.parentHash(of: parent, siblingHash: self.hash(of: sibling, excluding: parent.unmergedLeaves))
    }

    private func carriedParentHash(_ index: NodeIndex) -> [UInt8]? {
        switch self[index] {
        case .blank: nil
        case .parent(let parent): parent.parentHash
        case .leaf(let leaf): if case .commit(let parentHash) = leaf.source { parentHash } else { nil }
        }
    }
}
