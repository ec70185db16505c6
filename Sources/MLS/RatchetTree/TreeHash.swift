import TLSCodec

/// Cached tree hashes of all nodes in one buffer, and which of them are valid (RFC 9420 §7.8).
struct TreeHashes: Sendable {
    private let hashLength: Int
    private var bytes: [UInt8]
    private var known: [Bool]

    init(nodeCount: Int, hashLength: Int) {
        self.hashLength = hashLength
        self.bytes = Array(repeating: 0, count: nodeCount * hashLength)
        self.known = Array(repeating: false, count: nodeCount)
    }

    subscript(_ index: NodeIndex) -> [UInt8]? {
        guard self.known[index.value] else { return nil }
        let start = index.value * self.hashLength
        return Array(self.bytes[start..<start + self.hashLength])
    }

    mutating func store(_ hash: [UInt8], at index: NodeIndex) {
        let start = index.value * self.hashLength
        self.bytes.replaceSubrange(start..<start + self.hashLength, with: hash)
        self.known[index.value] = true
    }

    /// Invalidates a hash and returns whether it was valid.
    @discardableResult
    mutating func invalidate(_ index: NodeIndex) -> Bool {
        guard self.known[index.value] else { return false }
        self.known[index.value] = false
        return true
    }

    mutating func resize(nodeCount: Int) {
        if nodeCount < self.known.count {
            self.known.removeLast(self.known.count - nodeCount)
            self.bytes.removeLast(self.bytes.count - nodeCount * self.hashLength)
        } else {
            self.known.append(contentsOf: repeatElement(false, count: nodeCount - self.known.count))
            self.bytes.append(contentsOf: repeatElement(0, count: nodeCount * self.hashLength - self.bytes.count))
        }
    }
}

// struct {
//     NodeType node_type;
//     select (TreeHashInput.node_type) {
//         case leaf:   uint32 leaf_index; optional<LeafNode> leaf_node;
//         case parent: optional<ParentNode> parent_node; opaque left_hash<V>; opaque right_hash<V>;
//     };
// } TreeHashInput;

extension RatchetTree {
    /// Returns the tree hash of the whole tree, recomputing only changed parts.
    mutating func rootHash() -> [UInt8] { self.hash(of: self.shape.root) }

    /// Returns the tree hash of a subtree.
    mutating func hash(of index: NodeIndex) -> [UInt8] {
        if let hash = self.hashes[index] { return hash }
        let hash: [UInt8]
        if let left = index.left, let right = index.right {
            hash = self.parentHashInput(
                self.parent(index), left: self.hash(of: left), right: self.hash(of: right))
        } else {
            hash = self.leafHashInput(index, blanked: false)
        }
        self.hashes.store(hash, at: index)
        return hash
    }

    func leafHashInput(_ index: NodeIndex, blanked: Bool) -> [UInt8] {
        var writer = TLSWriter(capacity: 320)
        writer.write(UInt8(1))
        writer.write(UInt32(index.value / 2))
        if !blanked, case .leaf(let leaf) = self[index] {
            writer.write(UInt8(1))
            leaf.encode(to: &writer)
        } else {
            writer.write(UInt8(0))
        }
        return self.cipherSuite.hash.digest(writer.bytes)
    }

    func parentHashInput(_ parent: ParentNode?, left: [UInt8], right: [UInt8]) -> [UInt8] {
        var writer = TLSWriter(capacity: 256)
        writer.write(UInt8(2))
        writer.writeOptional(parent)
        writer.writeOpaque(left)
        writer.writeOpaque(right)
        return self.cipherSuite.hash.digest(writer.bytes)
    }
}
