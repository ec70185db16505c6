public import TLSCodec

// struct {
//     HPKEPublicKey encryption_key;
//     opaque parent_hash<V>;
//     uint32 unmerged_leaves<V>;
// } ParentNode;

/// Parent node of the ratchet tree (RFC 9420 §7.1), immutable so that trees can share it.
public final class ParentNode: Sendable, TLSEncodable, TLSDecodable {
    /// HPKE public key of the node, serialized.
    public let encryptionKey: [UInt8]
    /// Parent hash that links the node to the one above it (RFC 9420 §7.9).
    public let parentHash: [UInt8]
    /// Leaves below that do not hold this node's key, in ascending order.
    public let unmergedLeaves: [UInt32]

    init(encryptionKey: [UInt8], parentHash: [UInt8], unmergedLeaves: [UInt32]) {
        self.encryptionKey = encryptionKey
        self.parentHash = parentHash
        self.unmergedLeaves = unmergedLeaves
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.encryptionKey = try reader.readOpaque()
        self.parentHash = try reader.readOpaque()
        self.unmergedLeaves = try reader.readUInt32Vector()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.encryptionKey)
        writer.writeOpaque(self.parentHash)
        writer.writeVector(self.unmergedLeaves)
    }
}
