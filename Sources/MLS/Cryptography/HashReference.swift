import TLSCodec

// struct {
//     opaque label<V>;
//     opaque value<V>;
// } RefHashInput;

extension CipherSuite {
    /// Returns RefHash(label, value) of RFC 9420 §5.2.
    func referenceHash(label: String, _ value: [UInt8]) -> [UInt8] {
        var writer = TLSWriter(capacity: value.count + label.utf8.count + 8)
        writer.writeOpaque(Array(label.utf8))
        writer.writeOpaque(value)
        return self.hash.digest(writer.bytes)
    }
}
