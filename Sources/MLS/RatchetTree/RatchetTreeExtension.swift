import TLSCodec

// struct {
//     NodeType node_type;
//     select (Node.node_type) {
//         case leaf:   LeafNode leaf_node;
//         case parent: ParentNode parent_node;
//     };
// } Node;
//
// optional<Node> ratchet_tree<V>;

extension RatchetTree {
    /// Returns the `ratchet_tree` extension's data (RFC 9420 §12.4.3.3): all nodes up to the last non-blank one.
    func encoded() -> [UInt8] {
        // V12.4.3.3-1: The tree that is sent ends in an occupied node.
        let count = (self.nodes.lastIndex { !$0.isBlank } ?? -1) + 1
        var writer = TLSWriter(capacity: count * 160)
        writer.writeVector { writer in
            for node in self.nodes[..<count] { Self.encode(node, to: &writer) }
        }
        return writer.bytes
    }

    static func encode(_ node: Node, to writer: inout TLSWriter) {
        switch node {
        case .blank: writer.write(UInt8(0))
        case .leaf(let leaf):
            writer.write(UInt8(1))
            writer.write(UInt8(1))
            leaf.encode(to: &writer)
        case .parent(let parent):
            writer.write(UInt8(1))
            writer.write(UInt8(2))
            parent.encode(to: &writer)
        }
    }

    static func node(from reader: inout TLSReader, isLeaf: Bool) throws(TLSCodecError) -> Node {
        let start = reader.offset
        switch try reader.readUInt8() {
        case 0: return .blank
        case 1: break
        case let other:
            throw TLSCodecError(.invalidValue, offset: start, "presence byte of a node is \(other), not 0 or 1")
        }
        let type = try reader.readUInt8()
        switch (type, isLeaf) {
        case (1, true): return .leaf(try LeafNode(from: &reader))
        case (2, false): return .parent(try ParentNode(from: &reader))
        default:
            throw TLSCodecError(
                .invalidValue, offset: start + 1,
                "expected a \(isLeaf ? "leaf" : "parent") node, found node type \(type)")
        }
    }

    /// Parses the extension's data; refuses a tree that ends in a blank node (RFC 9420 §12.4.3.3).
    init(cipherSuite: CipherSuite, encoded: [UInt8]) throws(MLSError) {
        do {
            var reader = TLSReader(encoded)
            var nodes = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> [Node] in
                var nodes: [Node] = []
                while !inner.isAtEnd { nodes.append(try Self.node(from: &inner, isLeaf: nodes.count & 1 == 0)) }
                return nodes
            }
            try reader.finish()
            // V12.4.3.3-2: The tree that is received ends in an occupied node.
            guard let last = nodes.last, !last.isBlank else {
                throw MLSError(.invalidTree, "the ratchet tree is empty or ends in a blank node (RFC 9420 §12.4.3.3)")
            }
            var leafCount = 1
            while 2 * leafCount - 1 < nodes.count { leafCount *= 2 }
            guard leafCount <= TreeShape.maximumLeafCount else {
                throw MLSError(.invalidTree, "the ratchet tree has more than \(TreeShape.maximumLeafCount) leaves")
            }
            nodes.append(contentsOf: repeatElement(.blank, count: 2 * leafCount - 1 - nodes.count))
            self.init(cipherSuite: cipherSuite, nodes: nodes)
        } catch let error as TLSCodecError {
            throw MLSError(decoding: "ratchet_tree", error)
        } catch let error as MLSError {
            throw error
        } catch {
            throw MLSError(.malformed, "ratchet_tree does not decode")
        }
    }
}
