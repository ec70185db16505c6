/// Value that can be decoded from the presentation language of RFC 9420 §2.1.
public protocol TLSDecodable {
    /// Reads the fields in wire order, leaving the reader after the last one.
    init(from reader: inout TLSReader) throws(TLSCodecError)
}

extension TLSDecodable {
    /// Decodes a value that fills `bytes` completely; refuses trailing bytes.
    @inlinable
    public init(tlsEncoded bytes: [UInt8]) throws(TLSCodecError) {
        var reader = TLSReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }
}
