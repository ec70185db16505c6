import TLSCodec

/// Public ratchet tree of a group (RFC 9420 §4.1): shared nodes and the hash of each.
///
/// Copying it copies references to the nodes' chunks. Changing one node copies its chunk and the hashes once.
struct RatchetTree: Sendable {
    enum Node: Sendable {
        case blank
        case leaf(LeafNode)
        case parent(ParentNode)

        var isBlank: Bool {
            if case .blank = self { true } else { false }
        }

        /// The HPKE public key; nil for a blank node.
        var encryptionKey: [UInt8]? {
            switch self {
            case .blank: nil
            case .leaf(let leaf): leaf.encryptionKey
            case .parent(let parent): parent.encryptionKey
            }
        }

        /// The signature public key of a leaf; nil for any other node.
        var signatureKey: [UInt8]? {
            if case .leaf(let leaf) = self { leaf.signatureKey } else { nil }
        }
    }

    let cipherSuite: CipherSuite
    private(set) var shape: TreeShape
    /// All `2 * leafCount - 1` nodes, in the order of RFC 9420 Appendix C.
    private(set) var nodes: TreeNodes
    /// Tree hashes of RFC 9420 §7.8, cached between changes.
    var hashes: TreeHashes
    private(set) var keyEndings: KeyEndings
    /// Nodes that changed since the group was last stored; nil if all did.
    private(set) var changedNodes: Set<Int>?

    /// Creates a tree with one leaf.
    init(cipherSuite: CipherSuite, leaf: LeafNode) {
        self.init(cipherSuite: cipherSuite, nodes: [.leaf(leaf)])
    }

    /// Creates a tree from `nodes`, which must form a complete tree.
    init(cipherSuite: CipherSuite, nodes: [Node]) {
        self.cipherSuite = cipherSuite
        self.shape = TreeShape(leafCount: (nodes.count + 1) / 2)
        self.nodes = TreeNodes(nodes)
        self.hashes = TreeHashes(nodeCount: nodes.count, hashLength: cipherSuite.hashLength)
        self.keyEndings = KeyEndings(nodes)
        self.changedNodes = nil
    }

    subscript(_ index: NodeIndex) -> Node { self.nodes[index.value] }

    /// Returns the leaf, or nil if it is blank or outside the tree.
    func leaf(_ index: LeafIndex) -> LeafNode? {
        guard index.rawValue < self.shape.leafCount, case .leaf(let leaf) = self[index.node] else { return nil }
        return leaf
    }

    func parent(_ index: NodeIndex) -> ParentNode? {
        if case .parent(let parent) = self[index] { parent } else { nil }
    }

    /// The occupied leaves from left to right.
    var members: [(index: LeafIndex, leaf: LeafNode)] {
        stride(from: 0, to: self.nodes.count, by: 2).compactMap { position in
            if case .leaf(let leaf) = self.nodes[position] { (LeafIndex(position / 2), leaf) } else { nil }
        }
    }

    /// Replaces a node and invalidates the hashes that depend on it.
    mutating func set(_ node: Node, at index: NodeIndex) {
        self.nodes[index.value] = node
        self.keyEndings.set(node, at: index.value)
        self.changedNodes?.insert(index.value)
        self.hashes.invalidate(index)
        var current = index
        while current != self.shape.root {
            current = current.parent
            // The ancestors of a node without a hash have no hashes either.
            guard self.hashes.invalidate(current) else { break }
        }
    }

    /// Doubles the number of leaves (RFC 9420 §7.7).
    mutating func extend() {
        self.nodes.appendBlank(self.nodes.count + 1)
        self.shape = TreeShape(leafCount: self.shape.leafCount * 2)
        self.hashes.resize(nodeCount: self.nodes.count)
        self.keyEndings.resize(nodeCount: self.nodes.count)
    }

    /// Halves the tree while its right half is blank (RFC 9420 §7.7).
    mutating func truncate() {
        while self.shape.leafCount > 1 {
            let root = self.shape.root
            let rightHalf = self.nodes[(root.value + 1)...]
            guard rightHalf.allSatisfy(\.isBlank) else { return }
            if let changed = self.changedNodes { self.changedNodes = changed.union(root.value..<self.nodes.count) }
            self.nodes.truncate(to: root.value)
            self.shape = TreeShape(leafCount: self.shape.leafCount / 2)
            self.hashes.resize(nodeCount: self.nodes.count)
            self.keyEndings.resize(nodeCount: self.nodes.count)
        }
    }

    /// Resets change tracking after the tree was stored.
    mutating func markStored() {
        self.changedNodes = []
    }

    /// Marks a node as changed.
    mutating func noteChanged(_ index: Int) {
        self.changedNodes?.insert(index)
    }

    /// Marks every node as changed.
    mutating func markAllChanged() {
        self.changedNodes = nil
    }

    /// Returns the resolution of a node (RFC 9420 §4.1.1): the smallest set of nodes that covers all members below.
    func resolution(of index: NodeIndex) -> [NodeIndex] {
        var result: [NodeIndex] = []
        self.appendResolution(of: index, to: &result)
        return result
    }

    private func appendResolution(of index: NodeIndex, to result: inout [NodeIndex]) {
        switch self[index] {
        case .leaf: result.append(index)
        case .parent(let parent):
            result.append(index)
            for leaf in parent.unmergedLeaves { result.append(LeafIndex(rawValue: leaf).node) }
        case .blank:
            guard let left = index.left, let right = index.right else { return }
            self.appendResolution(of: left, to: &result)
            self.appendResolution(of: right, to: &result)
        }
    }

    /// Returns whether the resolution of a node is empty, i.e. no member is below it.
    func hasEmptyResolution(_ index: NodeIndex) -> Bool {
        index.leafRange.allSatisfy { self.nodes[$0 * 2].isBlank }
    }

    /// Returns the filtered direct path of a leaf (RFC 9420 §4.1.2): each node above it that has a member below its
    /// other child, together with that child.
    func filteredDirectPath(of leaf: LeafIndex) -> [(node: NodeIndex, copath: NodeIndex)] {
        var path: [(NodeIndex, NodeIndex)] = []
        var current = leaf.node
        while current != self.shape.root {
            let sibling = current.sibling
            current = current.parent
            if !self.hasEmptyResolution(sibling) { path.append((current, sibling)) }
        }
        return path
    }
}
