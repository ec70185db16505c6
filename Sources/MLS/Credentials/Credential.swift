public import TLSCodec

// struct {
//     CredentialType credential_type;
//     select (Credential.credential_type) {
//         case basic: opaque identity<V>;
//         case x509:  Certificate certificates<V>;   // struct { opaque cert_data<V>; } Certificate;
//     };
// } Credential;

/// Identity stated by a leaf (RFC 9420 §5.3). The application decides whether to trust it.
public enum Credential: Hashable, Sendable {
    /// An identity in a form that the application defines; Marmot uses the 32 bytes of a Nostr public key.
    case basic(identity: [UInt8])
    /// A chain of DER certificates, end entity first.
    case x509(certificates: [[UInt8]])

    /// The registered type number (RFC 9420 §17.5).
    public var type: UInt16 {
        switch self {
        case .basic: 1
        case .x509: 2
        }
    }
}

extension Credential: TLSEncodable, TLSDecodable {
    /// Decodes a credential; refuses types other than basic (1) and x509 (2).
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        switch try reader.readUInt16() {
        case 1: self = .basic(identity: try reader.readOpaque())
        case 2:
            let chain = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> [[UInt8]] in
                var chain: [[UInt8]] = []
                while !inner.isAtEnd { chain.append(try inner.readOpaque()) }
                return chain
            }
            self = .x509(certificates: chain)
        case let other:
            throw TLSCodecError(.invalidValue, offset: start, "credential type \(other) is neither basic nor x509")
        }
    }

    /// Encodes the type number and the identity or certificates.
    public func encode(to writer: inout TLSWriter) {
        writer.write(self.type)
        switch self {
        case .basic(let identity): writer.writeOpaque(identity)
        case .x509(let certificates):
            writer.writeVector { writer in
                for certificate in certificates { writer.writeOpaque(certificate) }
            }
        }
    }
}
