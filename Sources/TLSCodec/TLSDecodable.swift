/// A value that can be read from its encoding in the presentation language of RFC 9420 §2.1.
public protocol TLSDecodable {
    /// Reads the fields in wire order and leaves the reader after the last one.
    init(from reader: inout TLSReader) throws(TLSCodecError)
}

extension TLSDecodable {
    /// Decodes a value that fills `bytes` completely; trailing bytes are refused.
    @inlinable
    public init(tlsEncoded bytes: [UInt8]) throws(TLSCodecError) {
        var reader = TLSReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }
}
