public import TLSCodec

// struct {
//     ProtocolVersion version = mls10;
//     CipherSuite cipher_suite;
//     opaque group_id<V>;
//     uint64 epoch;
//     opaque tree_hash<V>;
//     opaque confirmed_transcript_hash<V>;
//     Extension extensions<V>;
// } GroupContext;

/// State that all members of an epoch share (RFC 9420 §8.1).
public struct GroupContext: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Cipher suite of the group.
    public var cipherSuite: CipherSuite
    /// MLS group id, opaque bytes.
    public var groupID: GroupID
    /// Number of this epoch.
    public var epoch: Epoch
    /// Tree hash of the ratchet tree's root (RFC 9420 §7.8).
    public var treeHash: [UInt8]
    /// Hash over all commits up to this epoch's (RFC 9420 §8.2); empty in epoch 0.
    public var confirmedTranscriptHash: [UInt8]
    /// GroupContext extensions of this epoch.
    public var extensions: [Extension]

    init(
        cipherSuite: CipherSuite, groupID: GroupID, epoch: Epoch, treeHash: [UInt8], confirmedTranscriptHash: [UInt8],
        extensions: [Extension]
    ) {
        self.cipherSuite = cipherSuite
        self.groupID = groupID
        self.epoch = epoch
        self.treeHash = treeHash
        self.confirmedTranscriptHash = confirmedTranscriptHash
        self.extensions = extensions
    }

    /// Decodes the fields in wire order; refuses versions other than mls10.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        try ProtocolVersion.read(from: &reader)
        self.cipherSuite = try CipherSuite(from: &reader)
        self.groupID = GroupID(try reader.readOpaque())
        self.epoch = try Epoch(from: &reader)
        self.treeHash = try reader.readOpaque()
        self.confirmedTranscriptHash = try reader.readOpaque()
        self.extensions = try reader.readVector(of: Extension.self)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.write(ProtocolVersion.mls10)
        self.cipherSuite.encode(to: &writer)
        writer.writeOpaque(self.groupID.bytes)
        self.epoch.encode(to: &writer)
        writer.writeOpaque(self.treeHash)
        writer.writeOpaque(self.confirmedTranscriptHash)
        writer.writeVector(self.extensions)
    }
}

/// The protocol version (RFC 9420 §6); only one exists.
enum ProtocolVersion {
    static let mls10: UInt16 = 1

    /// Reads a version and refuses any other than mls10.
    static func read(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        let version = try reader.readUInt16()
        guard version == self.mls10 else {
            throw TLSCodecError(.invalidValue, offset: start, "protocol version is \(version), not mls10 (1)")
        }
    }
}
