/// Value that can be encoded in the presentation language of RFC 9420 §2.1.
public protocol TLSEncodable {
    /// Appends the fields in wire order.
    func encode(to writer: inout TLSWriter)
}

extension TLSEncodable {
    /// Returns the complete encoding of this value.
    @inlinable
    public func tlsEncoded() -> [UInt8] {
        var writer = TLSWriter()
        self.encode(to: &writer)
        return writer.bytes
    }
}
