import TLSCodec

// struct {
//     opaque label<V>;
//     opaque content<V>;
// } SignContent;

/// SignWithLabel and VerifyWithLabel (RFC 9420 §5.1.2); labels are listed in §17.6.
enum Signing {
    /// Returns the structure to sign: "MLS 1.0 " + label, then the content.
    static func signContent(label: String, _ content: [UInt8]) -> [UInt8] {
        var writer = TLSWriter(capacity: content.count + label.utf8.count + 16)
        writer.writeOpaque(Array("MLS 1.0 ".utf8) + Array(label.utf8))
        writer.writeOpaque(content)
        return writer.bytes
    }
}

extension SignaturePrivateKey {
    func sign(label: String, _ content: [UInt8]) throws -> [UInt8] {
        try self.sign(Signing.signContent(label: label, content))
    }
}

extension CipherSuite {
    func verify(_ signature: [UInt8], label: String, of content: [UInt8], publicKey: [UInt8]) -> Bool {
        self.signature.verify(signature, of: Signing.signContent(label: label, content), publicKey: publicKey)
    }
}
