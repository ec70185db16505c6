public import TLSCodec

// struct {
//     uint64 not_before;
//     uint64 not_after;
// } Lifetime;

/// Period in which a key package may be used, in Unix seconds, both ends included (RFC 9420 §7.2).
public struct Lifetime: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// First second of the lifetime.
    public var notBefore: UInt64
    /// Last second of the lifetime.
    public var notAfter: UInt64

    /// Creates a lifetime from its first and last second.
    public init(notBefore: UInt64, notAfter: UInt64) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.notBefore = try reader.readUInt64()
        self.notAfter = try reader.readUInt64()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.write(self.notBefore)
        writer.write(self.notAfter)
    }

    /// Returns whether `time` (Unix seconds) lies within the lifetime.
    public func contains(_ time: UInt64) -> Bool { self.notBefore <= time && time <= self.notAfter }
}
