public import TLSCodec

/// Index of a leaf, counted from the left (RFC 9420 §4.1.1).
public struct LeafIndex: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Number of leaves to the left, including blank ones.
    public let rawValue: UInt32

    /// Creates an index, which may lie outside any tree.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    init(_ value: Int) {
        self.rawValue = UInt32(value)
    }

    /// The leaf's node index; only for leaves that exist in a tree, so that doubling cannot overflow.
    var node: NodeIndex { NodeIndex(Int(self.rawValue) * 2) }

    /// Orders leaves from left to right.
    public static func < (left: LeafIndex, right: LeafIndex) -> Bool { left.rawValue < right.rawValue }
    /// The index in decimal digits.
    public var description: String { String(self.rawValue) }
}

extension LeafIndex: TLSEncodable, TLSDecodable {
    /// Decodes a `uint32`.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.init(rawValue: try reader.readUInt32())
    }

    /// Encodes the index as a `uint32`.
    public func encode(to writer: inout TLSWriter) {
        writer.write(self.rawValue)
    }
}

/// Index of a node in the array form of a complete binary tree (RFC 9420 Appendix C), in which leaves are even.
struct NodeIndex: Hashable, Comparable, Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }

    var isLeaf: Bool { self.value & 1 == 0 }

    /// Height above the leaves.
    var level: Int { (~self.value).trailingZeroBitCount }

    var leaf: LeafIndex? { self.isLeaf ? LeafIndex(self.value / 2) : nil }

    /// The left child; nil for a leaf.
    var left: NodeIndex? {
        let level = self.level
        return level == 0 ? nil : NodeIndex(self.value ^ (1 << (level - 1)))
    }

    /// The right child; nil for a leaf.
    var right: NodeIndex? {
        let level = self.level
        return level == 0 ? nil : NodeIndex(self.value ^ (3 << (level - 1)))
    }

    /// The parent in a sufficiently large tree; the caller must stop at the root.
    var parent: NodeIndex {
        let level = self.level
        return NodeIndex((self.value | 1 << level) & ~(1 << (level + 1)))
    }

    /// The other child of the parent.
    var sibling: NodeIndex {
        NodeIndex(self.value ^ (1 << (self.level + 1)))
    }

    /// The leaves below, or the leaf itself.
    var leafRange: Range<Int> {
        let half = (1 << self.level) - 1
        return (self.value - half) / 2..<(self.value + half) / 2 + 1
    }

    static func < (left: NodeIndex, right: NodeIndex) -> Bool { left.value < right.value }
}

/// Shape of a complete tree with a power-of-two number of leaves (RFC 9420 §4.1.1).
struct TreeShape: Hashable, Sendable {
    /// Number of leaves including blank ones; a power of two.
    let leafCount: Int

    /// Maximum leaf count of a tree that is decoded: its encoding would be near the size limit of a vector.
    static let maximumLeafCount = 1 << 22

    /// Returns whether a tree can have this many leaves: a power of two, and not too large.
    static func isValid(leafCount: Int) -> Bool {
        leafCount > 0 && leafCount & (leafCount - 1) == 0 && leafCount <= Self.maximumLeafCount
    }

    var nodeCount: Int { 2 * self.leafCount - 1 }
    var root: NodeIndex { NodeIndex(self.leafCount - 1) }

    /// Returns the nodes from the parent of `node` up to the root.
    func directPath(of node: NodeIndex) -> [NodeIndex] {
        var path: [NodeIndex] = []
        var current = node
        while current != self.root {
            current = current.parent
            path.append(current)
        }
        return path
    }

    /// Returns the lowest node above both leaves; nil if they are the same.
    func commonAncestor(_ first: LeafIndex, _ second: LeafIndex) -> NodeIndex? {
        guard first != second else { return nil }
        let range = Int(second.rawValue)
        return self.directPath(of: first.node).first { $0.leafRange.contains(range) }
    }
}
