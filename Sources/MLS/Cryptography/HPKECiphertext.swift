public import TLSCodec

// struct {
//     opaque kem_output<V>;
//     opaque ciphertext<V>;
// } HPKECiphertext;

/// A public-key ciphertext (RFC 9420 §7.6).
public struct HPKECiphertext: Hashable, Sendable, TLSEncodable, TLSDecodable {
    public var kemOutput: [UInt8]
    public var ciphertext: [UInt8]

    public init(kemOutput: [UInt8], ciphertext: [UInt8]) {
        self.kemOutput = kemOutput
        self.ciphertext = ciphertext
    }

    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.kemOutput = try reader.readOpaque()
        self.ciphertext = try reader.readOpaque()
    }

    public func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.kemOutput)
        writer.writeOpaque(self.ciphertext)
    }
}
