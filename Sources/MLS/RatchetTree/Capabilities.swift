public import TLSCodec

// struct {
//     ProtocolVersion versions<V>;
//     CipherSuite cipher_suites<V>;
//     ExtensionType extensions<V>;
//     ProposalType proposals<V>;
//     CredentialType credentials<V>;
// } Capabilities;

/// Capabilities of a client (RFC 9420 §7.2); unknown numbers are kept, since the leaf that contains them is signed.
public struct Capabilities: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Protocol versions, by number; 1 is mls10.
    public var versions: [UInt16]
    /// Cipher suites, by number.
    public var cipherSuites: [UInt16]
    /// Extension types other than the default types 1 to 5, by number.
    public var extensions: [UInt16]
    /// Proposal types other than the default types 1 to 7, by number.
    public var proposals: [UInt16]
    /// Credential types, by number; 1 is basic.
    public var credentials: [UInt16]

    /// Creates capabilities; by default of mls10 and basic credentials, without extra extensions or proposals.
    public init(
        versions: [UInt16] = [1], cipherSuites: [UInt16], extensions: [UInt16] = [], proposals: [UInt16] = [],
        credentials: [UInt16] = [1]
    ) {
        self.versions = versions
        self.cipherSuites = cipherSuites
        self.extensions = extensions
        self.proposals = proposals
        self.credentials = credentials
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.versions = try reader.readUInt16Vector()
        self.cipherSuites = try reader.readUInt16Vector()
        self.extensions = try reader.readUInt16Vector()
        self.proposals = try reader.readUInt16Vector()
        self.credentials = try reader.readUInt16Vector()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeVector(self.versions)
        writer.writeVector(self.cipherSuites)
        writer.writeVector(self.extensions)
        writer.writeVector(self.proposals)
        writer.writeVector(self.credentials)
    }

    /// Returns whether the extension type is a default one or listed.
    func supports(_ type: Extension.ExtensionType) -> Bool {
        type.isDefault || self.extensions.contains(type.rawValue)
    }

    /// Returns which part of `required` these capabilities lack; nil if none (RFC 9420 §11.1).
    func missing(from required: RequiredCapabilities) -> String? {
        for type in required.extensions where !self.supports(.init(rawValue: type)) {
            return "extension type \(type) is required but not supported"
        }
        // Proposal types 1 to 7 are default types (RFC 9420 §7.2).
        for type in required.proposals where !(1...7).contains(type) && !self.proposals.contains(type) {
            return "proposal type \(type) is required but not supported"
        }
        for type in required.credentials where !self.credentials.contains(type) {
            return "credential type \(type) is required but not supported"
        }
        return nil
    }
}
