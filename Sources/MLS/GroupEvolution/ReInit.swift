public import TLSCodec

// struct {
//     opaque group_id<V>;
//     ProtocolVersion version;
//     CipherSuite cipher_suite;
//     Extension extensions<V>;
// } ReInit;

/// Proposal to restart the group with other parameters (RFC 9420 §12.1.5).
public struct ReInit: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Id of the new group.
    public var groupID: GroupID
    /// Protocol version of the new group, at least the current one; 1 is mls10.
    public var version: UInt16
    /// Cipher suite of the new group.
    public var cipherSuite: CipherSuite
    /// GroupContext extensions of the new group.
    public var extensions: [Extension]

    /// Decodes the fields in wire order; does not check the version.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.groupID = GroupID(try reader.readOpaque())
        self.version = try reader.readUInt16()
        self.cipherSuite = try CipherSuite(from: &reader)
        self.extensions = try reader.readVector(of: Extension.self)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.groupID.bytes)
        writer.write(self.version)
        self.cipherSuite.encode(to: &writer)
        writer.writeVector(self.extensions)
    }
}
