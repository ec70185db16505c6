import CSodium
import TLSCodec

extension HPKE {
    // struct {
    //   opaque label<V>;
    //   opaque context<V>;
    // } EncryptContext;

    /// Returns the hashed `EncryptContext` of EncryptWithLabel (RFC 9420 §5.1.3).
    func encryptContext(label: String, context: [UInt8]) -> Info {
        var writer = TLSWriter(capacity: context.count + label.utf8.count + 16)
        writer.writeOpaque(Array("MLS 1.0 ".utf8) + Array(label.utf8))
        writer.writeOpaque(context)
        return self.info(writer.bytes)
    }
}

extension [UInt8] {
    /// Overwrites the bytes with zeros; for copies of secrets that are no longer needed.
    package mutating func wipe() {
        let count = self.count
        self.withUnsafeMutableBytes { if let base = $0.baseAddress { sodium_memzero(base, count) } }
    }
}
