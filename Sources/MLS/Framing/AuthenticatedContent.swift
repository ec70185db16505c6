public import TLSCodec

// struct {
//     WireFormat wire_format;
//     FramedContent content;
//     FramedContentAuthData auth;   // opaque signature<V>; for a commit also MAC confirmation_tag
// } AuthenticatedContent;

/// Content with its signature and, for a commit, the confirmation tag (RFC 9420 §6.1).
public struct AuthenticatedContent: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The wire format, which the signature covers.
    public let wireFormat: WireFormat
    /// The signed content.
    public let content: FramedContent
    /// Signature over FramedContentTBS (RFC 9420 §6.1).
    public let signature: [UInt8]
    /// MAC of a commit under the confirmation key of the epoch it starts (RFC 9420 §6.1); nil for other content.
    public let confirmationTag: [UInt8]?

    init(wireFormat: WireFormat, content: FramedContent, signature: [UInt8], confirmationTag: [UInt8]?) {
        self.wireFormat = wireFormat
        self.content = content
        self.signature = signature
        self.confirmationTag = confirmationTag
    }

    /// Reads the auth data that follows `content`.
    init(
        wireFormat: WireFormat, content: FramedContent, authFrom reader: inout TLSReader
    ) throws(TLSCodecError) {
        self.wireFormat = wireFormat
        self.content = content
        self.signature = try reader.readOpaque()
        self.confirmationTag = content.contentType == .commit ? try reader.readOpaque() : nil
    }

    /// Decodes the fields in wire order; refuses unknown wire formats. The signature is not verified.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        let number = try reader.readUInt16()
        guard let wireFormat = WireFormat(rawValue: number) else {
            throw TLSCodecError(.invalidValue, offset: start, "wire format \(number) is not 1 to 5")
        }
        let content = try FramedContent(from: &reader)
        try self.init(wireFormat: wireFormat, content: content, authFrom: &reader)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.write(self.wireFormat.rawValue)
        self.content.encode(to: &writer)
        self.encodeAuth(to: &writer)
    }

    func encodeAuth(to writer: inout TLSWriter) {
        writer.writeOpaque(self.signature)
        if let confirmationTag { writer.writeOpaque(confirmationTag) }
    }

    /// Returns FramedContentTBS (RFC 9420 §6.1); `context` is the encoded GroupContext of the message's epoch.
    static func toBeSigned(_ content: FramedContent, wireFormat: WireFormat, context: [UInt8]) -> [UInt8] {
        var writer = TLSWriter(capacity: content.encoded.count + context.count + 4)
        writer.write(ProtocolVersion.mls10)
        writer.write(wireFormat.rawValue)
        writer.writeFixed(content.encoded)
        switch content.sender {
        case .member, .newMemberCommit: writer.writeFixed(context)
        case .external, .newMemberProposal: break
        }
        return writer.bytes
    }

    func hasValidSignature(_ suite: CipherSuite, context: [UInt8], publicKey: [UInt8]) -> Bool {
        // V6.1-1: The signature verifies with the key of the member's leaf.
        let content = Self.toBeSigned(self.content, wireFormat: self.wireFormat, context: context)
        return suite.verify(self.signature, label: "FramedContentTBS", of: content, publicKey: publicKey)
    }

    /// Returns the ProposalRef of a proposal message (RFC 9420 §5.2).
    func proposalReference(_ suite: CipherSuite) -> [UInt8] {
        suite.referenceHash(label: "MLS 1.0 Proposal Reference", self.tlsEncoded())
    }
}
