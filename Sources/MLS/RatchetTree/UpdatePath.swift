public import TLSCodec

// struct {
//     HPKEPublicKey encryption_key;
//     HPKECiphertext encrypted_path_secret<V>;
// } UpdatePathNode;

/// Node of an update path (RFC 9420 §7.6).
public struct UpdatePathNode: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// New HPKE public key of the node, serialized.
    public var encryptionKey: [UInt8]
    /// One ciphertext for each node in the copath child's resolution, in that order.
    public var encryptedPathSecrets: PathCiphertexts

    init(encryptionKey: [UInt8], encryptedPathSecrets: PathCiphertexts) {
        self.encryptionKey = encryptionKey
        self.encryptedPathSecrets = encryptedPathSecrets
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.encryptionKey = try reader.readOpaque()
        self.encryptedPathSecrets = try PathCiphertexts(from: &reader)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.encryptionKey)
        self.encryptedPathSecrets.encode(to: &writer)
    }
}

// struct {
//     LeafNode leaf_node;
//     UpdatePathNode nodes<V>;
// } UpdatePath;

/// Fresh keys from a leaf to the root (RFC 9420 §7.6).
public struct UpdatePath: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The sender's new leaf.
    public var leafNode: LeafNode
    /// One element for each node of the sender's filtered direct path, from the leaf upward.
    public var nodes: [UpdatePathNode]

    init(leafNode: LeafNode, nodes: [UpdatePathNode]) {
        self.leafNode = leafNode
        self.nodes = nodes
    }

    /// Decodes the fields in wire order; verifies nothing.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.leafNode = try LeafNode(from: &reader)
        self.nodes = try reader.readVector(of: UpdatePathNode.self)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        self.leafNode.encode(to: &writer)
        writer.writeVector(self.nodes)
    }
}
