import TLSCodec

// struct {
//     HPKEPublicKey encryption_key;
//     opaque parent_hash<V>;
//     opaque original_sibling_tree_hash<V>;
// } ParentHashInput;

extension RatchetTree {
    /// Returns the parent hash of a node with respect to the child whose sibling hashes to `siblingHash` (RFC 9420
    /// §7.9).
    func parentHash(of parent: ParentNode, siblingHash: [UInt8]) -> [UInt8] {
        var writer = TLSWriter(capacity: 160)
        writer.writeOpaque(parent.encryptionKey)
        writer.writeOpaque(parent.parentHash)
        writer.writeOpaque(siblingHash)
        return self.cipherSuite.hash.digest(writer.bytes)
    }

    /// Checks that every parent node is parent-hash valid (RFC 9420 §7.9.2). Hashes the tree first.
    ///
    /// - Precondition: the lists of unmerged leaves ascend (``validateUnmergedLeaves()``).
    mutating func verifyParentHashes() throws(MLSError) {
        _ = self.rootHash()
        var check = ParentHashCheck(tree: self)
        try check.run()
    }
}

/// Verifier of a hashed tree's parent hashes that counts its work.
///
/// The sender of a Welcome chooses the tree. Every list of unmerged leaves is read in order and never searched from its
/// start, so the work is at most the depth of the tree times the number of nodes and unmerged leaves.
struct ParentHashCheck {
    let tree: RatchetTree
    /// Nodes visited and unmerged leaves read.
    private(set) var work = 0

    init(tree: RatchetTree) {
        self.tree = tree
    }

    mutating func run() throws(MLSError) {
        // V12.4.3.1-6: Every parent node is parent-hash valid.
        for position in stride(from: 1, to: self.tree.nodes.count, by: 2) {
            let index = NodeIndex(position)
            guard let parent = self.tree.parent(index), let left = index.left, let right = index.right else { continue }
            guard
                self.isParentHash(of: parent, carriedBelow: left, sibling: right)
                    || self.isParentHash(of: parent, carriedBelow: right, sibling: left)
            else {
                throw MLSError(
                    .invalidTree, "no child of node \(position) carries its parent hash (RFC 9420 §7.9.2)")
            }
        }
    }

    private mutating func isParentHash(
        of parent: ParentNode, carriedBelow child: NodeIndex, sibling: NodeIndex
    ) -> Bool {
        let unmerged = parent.unmergedLeaves[...]
        let below = Set(unmerged.within(child.leafRange))
        let resolution = self.tree.resolution(of: child)
        self.work += below.count + resolution.count
        var holder: NodeIndex?
        var found = 0
        for node in resolution {
            if let leaf = node.leaf, below.contains(leaf.rawValue) {
                found += 1
            } else if holder == nil {
                holder = node
            } else {
                return false
            }
        }
        guard let holder, found == below.count, let carried = self.carriedParentHash(holder) else { return false }
        let siblingHash = self.hash(of: sibling, excluding: unmerged.within(sibling.leafRange))
        return carried == self.tree.parentHash(of: parent, siblingHash: siblingHash)
    }

    private func carriedParentHash(_ index: NodeIndex) -> [UInt8]? {
        switch self.tree[index] {
        case .blank: nil
        case .parent(let parent): parent.parentHash
        case .leaf(let leaf): if case .commit(let parentHash) = leaf.source { parentHash } else { nil }
        }
    }

    /// Returns the tree hash of a subtree before the `excluded` leaves were added (RFC 9420 §7.9): they count as blank
    /// and are removed from every list of unmerged leaves. `excluded` is ascending, and all its leaves are below
    /// `index`.
    private mutating func hash(of index: NodeIndex, excluding excluded: ArraySlice<UInt32>) -> [UInt8] {
        self.work += 1
        guard !excluded.isEmpty else {
            guard let hash = self.tree.hashes[index] else {
                preconditionFailure("the tree is hashed before its parent hashes are verified")
            }
            return hash
        }
        guard let left = index.left, let right = index.right else {
            return self.tree.leafHashInput(index, blanked: true)
        }
        let parent = self.tree.parent(index).map { parent in
            self.work += parent.unmergedLeaves.count
            return ParentNode(
                encryptionKey: parent.encryptionKey, parentHash: parent.parentHash,
                unmergedLeaves: parent.unmergedLeaves.removing(excluded))
        }
        return self.tree.parentHashInput(
            parent, left: self.hash(of: left, excluding: excluded.within(left.leafRange)),
            right: self.hash(of: right, excluding: excluded.within(right.leafRange)))
    }
}

extension RandomAccessCollection where Element == UInt32, Index == Int {
    /// Returns the position of the first element of an ascending list that is not less than `value`.
    func lowerBound(of value: Int) -> Int {
        var (low, high) = (self.startIndex, self.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if Int(self[middle]) < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns whether an ascending list contains `value`.
    func containsAscending(_ value: UInt32) -> Bool {
        let position = self.lowerBound(of: Int(value))
        return position < self.endIndex && self[position] == value
    }
}

extension ArraySlice<UInt32> {
    /// Returns the elements of an ascending list that lie in `range`.
    fileprivate func within(_ range: Range<Int>) -> ArraySlice<UInt32> {
        let start = self.lowerBound(of: range.lowerBound)
        return self[start..<self[start...].lowerBound(of: range.upperBound)]
    }
}

extension [UInt32] {
    /// Returns an ascending list without the elements of another ascending list.
    fileprivate func removing(_ other: ArraySlice<UInt32>) -> [UInt32] {
        var result: [UInt32] = []
        var rest = other
        for value in self {
            while let first = rest.first, first < value { rest = rest.dropFirst() }
            if rest.first != value { result.append(value) }
        }
        return result
    }
}
