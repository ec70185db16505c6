public import TLSCodec

// struct {
//     ExtensionType extension_types<V>;
//     ProposalType proposal_types<V>;
//     CredentialType credential_types<V>;
// } RequiredCapabilities;

/// Capabilities that every member must support (RFC 9420 §11.1).
public struct RequiredCapabilities: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Extension types, by number.
    public var extensions: [UInt16]
    /// Proposal types, by number.
    public var proposals: [UInt16]
    /// Credential types, by number.
    public var credentials: [UInt16]

    /// Creates requirements; an empty list requires nothing.
    public init(extensions: [UInt16] = [], proposals: [UInt16] = [], credentials: [UInt16] = []) {
        self.extensions = extensions
        self.proposals = proposals
        self.credentials = credentials
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.extensions = try reader.readUInt16Vector()
        self.proposals = try reader.readUInt16Vector()
        self.credentials = try reader.readUInt16Vector()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeVector(self.extensions)
        writer.writeVector(self.proposals)
        writer.writeVector(self.credentials)
    }

    /// The extension that carries these requirements.
    public var asExtension: Extension { Extension(type: .requiredCapabilities, data: self.tlsEncoded()) }

    /// Reads the requirements from `extensions`; nil if absent.
    init?(in extensions: [Extension]) throws(MLSError) {
        guard let data = extensions.data(of: .requiredCapabilities) else { return nil }
        do { try self.init(tlsEncoded: data) } catch { throw MLSError(decoding: "required_capabilities", error) }
    }
}
