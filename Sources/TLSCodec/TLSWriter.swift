/// Growing buffer that values encode themselves into.
///
/// A buffer that has become too small is wiped when it is replaced, because it may contain secrets; the last one is the
/// caller's to wipe.
public struct TLSWriter: Sendable {
    /// Everything written so far.
    public private(set) var bytes: [UInt8]

    /// Creates an empty buffer with room for `capacity` bytes.
    public init(capacity: Int = 0) {
        self.bytes = []
        self.bytes.reserveCapacity(capacity)
    }

    /// Returns the buffer and leaves the writer empty; the caller holds the only copy and can wipe it.
    public mutating func takeBytes() -> [UInt8] {
        let taken = self.bytes
        self.bytes = []
        return taken
    }

    /// Grows the buffer before it is full, so that the array never leaves an old one behind.
    private mutating func reserve(_ count: Int) {
        if self.bytes.capacity - self.bytes.count < count { self.grow(by: count) }
    }

    private mutating func grow(by count: Int) {
        var old = self.bytes
        self.bytes = []
        self.bytes.reserveCapacity(max(2 * old.count, old.count + count, 32))
        self.bytes.append(contentsOf: old)
        Self.wipe(&old)
    }

    // Not inlined, so that the writes cannot be left out as useless.
    @inline(never)
    private static func wipe(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
    }

    /// Appends a `uint8`.
    public mutating func write(_ value: UInt8) {
        self.reserve(1)
        self.bytes.append(value)
    }

    /// Appends a `uint16`, big-endian.
    public mutating func write(_ value: UInt16) {
        self.reserve(2)
        self.bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        self.bytes.append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends a `uint32`, big-endian.
    public mutating func write(_ value: UInt32) {
        self.reserve(4)
        withUnsafeBytes(of: value.bigEndian) { self.bytes.append(contentsOf: $0) }
    }

    /// Appends a `uint64`, big-endian.
    public mutating func write(_ value: UInt64) {
        self.reserve(8)
        withUnsafeBytes(of: value.bigEndian) { self.bytes.append(contentsOf: $0) }
    }

    /// Appends bytes without a length header: a fixed-size `opaque[n]`.
    public mutating func writeFixed(_ value: [UInt8]) {
        self.reserve(value.count)
        self.bytes.append(contentsOf: value)
    }

    /// Appends bytes without a length header: a fixed-size `opaque[n]`.
    public mutating func writeFixed(_ value: UnsafeRawBufferPointer) {
        self.reserve(value.count)
        self.bytes.append(contentsOf: value)
    }

    /// Appends `opaque<V>`: a length header and the bytes.
    public mutating func writeOpaque(_ value: [UInt8]) {
        self.writeLength(value.count)
        self.reserve(value.count)
        self.bytes.append(contentsOf: value)
    }

    /// Appends `opaque<V>`: a length header and the bytes.
    public mutating func writeOpaque(_ value: UnsafeRawBufferPointer) {
        self.writeLength(value.count)
        self.reserve(value.count)
        self.bytes.append(contentsOf: value)
    }

    /// Appends a vector whose content `body` writes; the length header is patched in afterwards.
    public mutating func writeVector(_ body: (inout TLSWriter) -> Void) {
        let start = self.bytes.count
        self.reserve(2)
        // Reserve two bytes, which fit every vector of 64 to 16,383 bytes, so that few bodies have to be moved.
        self.bytes.append(0)
        self.bytes.append(0)
        body(&self)
        let length = self.bytes.count - start - 2
        precondition(length <= VariableLengthInteger.maximum, "a TLS vector holds at most 2^30 - 1 bytes")
        switch VariableLengthInteger.headerSize(of: length) {
        case 1:
            self.bytes[start] = UInt8(length)
            self.bytes.remove(at: start + 1)
        case 2:
            self.bytes[start] = UInt8(length >> 8) | 0x40
            self.bytes[start + 1] = UInt8(length & 0xFF)
        default:
            let header = UInt32(length) | 0x8000_0000
            self.reserve(2)
            self.bytes[start] = UInt8(header >> 24)
            self.bytes[start + 1] = UInt8(header >> 16 & 0xFF)
            self.bytes.insert(contentsOf: [UInt8(header >> 8 & 0xFF), UInt8(header & 0xFF)], at: start + 2)
        }
    }

    /// Appends `T<V>`: a length header in bytes, then the elements.
    public mutating func writeVector(_ elements: [some TLSEncodable]) {
        self.writeVector { writer in
            for element in elements { element.encode(to: &writer) }
        }
    }

    /// Appends `uint16<V>`.
    public mutating func writeVector(_ elements: [UInt16]) {
        self.writeLength(elements.count * 2)
        for element in elements { self.write(element) }
    }

    /// Appends `uint32<V>`.
    public mutating func writeVector(_ elements: [UInt32]) {
        self.writeLength(elements.count * 4)
        for element in elements { self.write(element) }
    }

    /// Appends `optional<T>` (RFC 9420 §2.1.1): a presence byte and the value if there is one.
    public mutating func writeOptional(_ value: (some TLSEncodable)?) {
        if let value {
            self.write(UInt8(1))
            value.encode(to: &self)
        } else {
            self.write(UInt8(0))
        }
    }
}
