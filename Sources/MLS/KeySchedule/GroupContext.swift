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
    public var cipherSuite: CipherSuite
    public var groupID: [UInt8]
    public var epoch: Epoch
    public var treeHash: [UInt8]
    public var confirmedTranscriptHash: [UInt8]
    public var extensions: [Extension]

    init(
        cipherSuite: CipherSuite, groupID: [UInt8], epoch: Epoch, treeHash: [UInt8], confirmedTranscriptHash: [UInt8],
        extensions: [Extension]
    ) {
        self.cipherSuite = cipherSuite
        self.groupID = groupID
        self.epoch = epoch
        self.treeHash = treeHash
        self.confirmedTranscriptHash = confirmedTranscriptHash
        self.extensions = extensions
    }

    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        try ProtocolVersion.read(from: &reader)
        self.cipherSuite = try CipherSuite(from: &reader)
        self.groupID = try reader.readOpaque()
        self.epoch = try Epoch(from: &reader)
        self.treeHash = try reader.readOpaque()
        self.confirmedTranscriptHash = try reader.readOpaque()
        self.extensions = try reader.readVector(of: Extension.self)
    }

    public func encode(to writer: inout TLSWriter) {
        writer.write(ProtocolVersion.mls10)
        self.cipherSuite.encode(to: &writer)
        writer.writeOpaque(self.groupID)
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
