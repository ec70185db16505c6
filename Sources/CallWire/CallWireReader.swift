/// Reads the fields of one message, in order.
struct CallWireReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) throws(CallWireError) {
        guard bytes.count <= CallWire.maximumMessage else { throw .tooLong }
        self.bytes = bytes
    }

    mutating func kind() throws(CallWireError) -> CallWire.Kind {
        let byte: UInt8 = try self.number()
        guard let kind = CallWire.Kind(rawValue: byte) else { throw .unknownType(byte) }
        return kind
    }

    mutating func number<Value: FixedWidthInteger & UnsignedInteger>() throws(CallWireError) -> Value {
        let field = try self.field(Value.bitWidth / 8)
        return field.reduce(0) { ($0 &<< 8) | Value(truncatingIfNeeded: $1) }
    }

    mutating func track() throws(CallWireError) -> CallTrackID {
        guard let id = CallTrackID(try self.field(CallTrackID.length)) else { throw .tooShort }
        return id
    }

    /// Reads sequence and payload, which is the rest of the message.
    mutating func group() throws(CallWireError) -> CallGroup {
        let sequence: UInt64 = try self.number()
        guard self.offset < self.bytes.count else { throw .tooShort }
        defer { self.offset = self.bytes.count }
        return CallGroup(sequence: sequence, payload: Array(self.bytes[self.offset...]))
    }

    /// Throws unless everything was read.
    func finish() throws(CallWireError) {
        guard self.offset == self.bytes.count else { throw .tooLong }
    }

    private mutating func field(_ length: Int) throws(CallWireError) -> ArraySlice<UInt8> {
        guard self.bytes.count - self.offset >= length else { throw .tooShort }
        defer { self.offset += length }
        return self.bytes[self.offset..<self.offset + length]
    }
}

extension [UInt8] {
    /// Creates a message of this type and channel, with room for more.
    init(_ kind: CallWire.Kind, channel: UInt16, room: Int = 0) {
        self = []
        self.reserveCapacity(3 + room)
        self.append(kind.rawValue)
        self.append(bigEndian: channel)
    }

    mutating func append(_ group: CallGroup) {
        self.append(bigEndian: group.sequence)
        self += group.payload
    }

    private mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { self.append(contentsOf: $0) }
    }
}
