/// Cursor over encoded bytes that never reads past its end.
public struct TLSReader: Sendable {
    /// The whole input; shared, not copied.
    public let bytes: [UInt8]
    /// Position of the next byte in `bytes`.
    public private(set) var offset: Int
    /// Position after the last byte that this reader may read.
    @usableFromInline let end: Int

    /// Creates a reader over all of `bytes`.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.offset = 0
        self.end = bytes.count
    }

    private init(_ bytes: [UInt8], from offset: Int, to end: Int) {
        self.bytes = bytes
        self.offset = offset
        self.end = end
    }

    /// Number of bytes not yet read.
    public var remaining: Int { self.end - self.offset }

    /// Whether all bytes have been read.
    public var isAtEnd: Bool { self.offset == self.end }

    /// Throws `TLSCodecError.Code.trailingBytes` unless everything has been read.
    public func finish() throws(TLSCodecError) {
        guard self.isAtEnd else {
            throw TLSCodecError(
                .trailingBytes, offset: self.offset, "\(self.remaining) bytes follow after the end of the value")
        }
    }

    /// Reads a `uint8`; throws `TLSCodecError.Code.truncated` at the end of the input, as all reads do.
    public mutating func readUInt8() throws(TLSCodecError) -> UInt8 {
        try self.require(1)
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    /// Reads a `uint16`, big-endian.
    public mutating func readUInt16() throws(TLSCodecError) -> UInt16 {
        try self.require(2)
        defer { self.offset += 2 }
        return UInt16(self.bytes[self.offset]) << 8 | UInt16(self.bytes[self.offset + 1])
    }

    /// Reads a `uint32`, big-endian.
    public mutating func readUInt32() throws(TLSCodecError) -> UInt32 {
        let high = try self.readUInt16()
        return UInt32(high) << 16 | UInt32(try self.readUInt16())
    }

    /// Reads a `uint64`, big-endian.
    public mutating func readUInt64() throws(TLSCodecError) -> UInt64 {
        let high = try self.readUInt32()
        return UInt64(high) << 32 | UInt64(try self.readUInt32())
    }

    /// Reads `opaque[count]`.
    public mutating func readFixed(_ count: Int) throws(TLSCodecError) -> [UInt8] {
        try self.require(count)
        defer { self.offset += count }
        return Array(self.bytes[self.offset..<self.offset + count])
    }

    /// Reads `opaque<V>` as a view of the input without its length header, for data that must not be copied.
    public mutating func readOpaqueSlice() throws(TLSCodecError) -> ArraySlice<UInt8> {
        let count = try self.readLength()
        try self.require(count)
        defer { self.offset += count }
        return self.bytes[self.offset..<self.offset + count]
    }

    /// Reads `opaque<V>` without its length header.
    public mutating func readOpaque() throws(TLSCodecError) -> [UInt8] {
        try self.readFixed(try self.readLength())
    }

    /// Reads a vector and passes its content to `body`, which must consume all of it.
    public mutating func readVector<Result>(
        _ body: (inout TLSReader) throws(TLSCodecError) -> Result
    ) throws(TLSCodecError) -> Result {
        let length = try self.readLength()
        try self.require(length)
        var inner = TLSReader(self.bytes, from: self.offset, to: self.offset + length)
        let result = try body(&inner)
        guard inner.isAtEnd else {
            throw TLSCodecError(
                .unevenVector, offset: inner.offset, "\(inner.remaining) bytes are left over inside a vector")
        }
        self.offset = inner.offset
        return result
    }

    /// Reads `T<V>`; refuses an element that crosses the end of the vector.
    public mutating func readVector<Element: TLSDecodable>(
        of type: Element.Type
    ) throws(TLSCodecError) -> [Element] {
        try self.readElements { (inner: inout TLSReader) throws(TLSCodecError) in try Element(from: &inner) }
    }

    /// Reads a vector element by element; refuses an element that crosses the end of the vector.
    package mutating func readElements<Element>(
        _ element: (inout TLSReader) throws(TLSCodecError) -> Element
    ) throws(TLSCodecError) -> [Element] {
        try self.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> [Element] in
            var elements: [Element] = []
            while !inner.isAtEnd { elements.append(try element(&inner)) }
            return elements
        }
    }

    /// Reads `uint16<V>`.
    public mutating func readUInt16Vector() throws(TLSCodecError) -> [UInt16] {
        let length = try self.evenLength(of: 2)
        var elements: [UInt16] = []
        elements.reserveCapacity(length / 2)
        for _ in 0..<length / 2 { elements.append(try self.readUInt16()) }
        return elements
    }

    /// Reads `uint32<V>`.
    public mutating func readUInt32Vector() throws(TLSCodecError) -> [UInt32] {
        let length = try self.evenLength(of: 4)
        var elements: [UInt32] = []
        elements.reserveCapacity(length / 4)
        for _ in 0..<length / 4 { elements.append(try self.readUInt32()) }
        return elements
    }

    /// Reads `optional<T>` (RFC 9420 §2.1.1); refuses a presence byte other than 0 or 1.
    public mutating func readOptional<Value: TLSDecodable>(
        _ type: Value.Type
    ) throws(TLSCodecError) -> Value? {
        let start = self.offset
        switch try self.readUInt8() {
        case 0: return nil
        case 1: return try Value(from: &self)
        case let other:
            throw TLSCodecError(.invalidValue, offset: start, "presence byte of an optional is \(other), not 0 or 1")
        }
    }

    private mutating func evenLength(of size: Int) throws(TLSCodecError) -> Int {
        let start = self.offset
        let length = try self.readLength()
        // Check before allocating anything: a hostile header may announce a gigabyte.
        try self.require(length)
        guard length % size == 0 else {
            throw TLSCodecError(.unevenVector, offset: start, "\(length) bytes do not hold whole \(size)-byte integers")
        }
        return length
    }

    private func require(_ count: Int) throws(TLSCodecError) {
        guard count <= self.remaining else {
            throw TLSCodecError(
                .truncated, offset: self.offset, "\(count) bytes are needed, \(self.remaining) are left")
        }
    }
}
