import TLSCodec

// struct {
//     uint16 length;
//     opaque label<V>;
//     opaque context<V>;
// } KDFLabel;

extension CipherSuite {
    /// Returns ExpandWithLabel(secret, label, context, length) of RFC 9420 §8.
    func expandWithLabel(_ secret: Secret, _ label: String, context: [UInt8] = [], length: Int) -> Secret {
        self.expandWithLabel(secret, label: Array(label.utf8), context: context, length: length)
    }

    /// Returns ExpandWithLabel for a label given as bytes.
    func expandWithLabel(_ secret: Secret, label: [UInt8], context: [UInt8], length: Int) -> Secret {
        var writer = TLSWriter(capacity: context.count + label.count + 16)
        writer.write(UInt16(length))
        writer.writeLength(8 + label.count)
        writer.writeFixed(Self.labelPrefix)
        writer.writeFixed(label)
        writer.writeOpaque(context)
        return self.hash.expand(secret, info: writer.bytes, length: length)
    }

    /// Returns DeriveSecret(secret, label) of RFC 9420 §8.
    func deriveSecret(_ secret: Secret, _ label: String) -> Secret {
        self.expandWithLabel(secret, label, length: self.hashLength)
    }

    /// Returns DeriveTreeSecret(secret, label, generation, length) of RFC 9420 §9.
    func deriveTreeSecret(_ secret: Secret, _ label: String, generation: UInt32, length: Int) -> Secret {
        let context = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
        return self.expandWithLabel(secret, label, context: context, length: length)
    }

    private static let labelPrefix = Array("MLS 1.0 ".utf8)
}
