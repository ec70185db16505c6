public import TLSCodec

// struct {
//     GroupContext group_context;
//     Extension extensions<V>;
//     MAC confirmation_tag;
//     uint32 signer;
//     opaque signature<V>;
// } GroupInfo;

/// Description of a group for new members (RFC 9420 §12.4.3), signed by a member.
public struct GroupInfo: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// GroupContext of the epoch that the new members join.
    public let context: GroupContext
    /// GroupInfo extensions, such as `ratchet_tree`.
    public let extensions: [Extension]
    /// MAC of the epoch's transcript hash under its confirmation key (RFC 9420 §6.1).
    public let confirmationTag: [UInt8]
    /// Leaf of the member that signed it.
    public let signer: LeafIndex
    /// Signature over GroupInfoTBS by the signer's leaf key (RFC 9420 §12.4.3).
    public let signature: [UInt8]
    private let unsigned: [UInt8]

    /// Decodes the fields in wire order; the signature is not verified.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        self.context = try GroupContext(from: &reader)
        self.extensions = try reader.readVector(of: Extension.self)
        self.confirmationTag = try reader.readOpaque()
        self.signer = try LeafIndex(from: &reader)
        self.unsigned = Array(reader.bytes[start..<reader.offset])
        self.signature = try reader.readOpaque()
    }

    init(
        context: GroupContext, extensions: [Extension], confirmationTag: [UInt8], signer: LeafIndex,
        signedBy key: SignaturePrivateKey
    ) throws {
        self.context = context
        self.extensions = extensions
        self.confirmationTag = confirmationTag
        self.signer = signer
        var writer = TLSWriter(capacity: 512 + extensions.reduce(0) { $0 + $1.data.count })
        context.encode(to: &writer)
        writer.writeVector(extensions)
        writer.writeOpaque(confirmationTag)
        signer.encode(to: &writer)
        self.unsigned = writer.bytes
        self.signature = try key.sign(label: "GroupInfoTBS", writer.bytes)
    }

    /// Encodes the bytes as received or as signed.
    public func encode(to writer: inout TLSWriter) {
        writer.writeFixed(self.unsigned)
        writer.writeOpaque(self.signature)
    }

    func hasValidSignature(publicKey: [UInt8]) -> Bool {
        self.context.cipherSuite.verify(
            self.signature, label: "GroupInfoTBS", of: self.unsigned, publicKey: publicKey)
    }
}
