public import TLSCodec

// struct {
//     opaque kem_output<V>;
//     opaque ciphertext<V>;
// } HPKECiphertext;

/// A public-key ciphertext (RFC 9420 §7.6).
public struct HPKECiphertext: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The serialized encapsulated key, `enc` in RFC 9180 §5.
    public var kemOutput: [UInt8]
    /// The AEAD ciphertext including its tag.
    public var ciphertext: [UInt8]

    /// Creates a ciphertext from its two parts.
    public init(kemOutput: [UInt8], ciphertext: [UInt8]) {
        self.kemOutput = kemOutput
        self.ciphertext = ciphertext
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.kemOutput = try reader.readOpaque()
        self.ciphertext = try reader.readOpaque()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.kemOutput)
        writer.writeOpaque(self.ciphertext)
    }
}
