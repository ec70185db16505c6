import MLS

/// Writes the fields of a sealed value in order: integers big-endian, bytes after a 32-bit length.
///
/// Throws `StoreError.Code.invalidChange` for a count that does not fit into 32 bits.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { self.bytes.reserveCapacity(capacity) }

    mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { self.bytes.append(contentsOf: $0) }
    }

    /// Writes the number of the elements or bytes that follow.
    mutating func count(_ value: Int) throws(StoreError) {
        guard let count = UInt32(exactly: value) else {
            throw StoreError(.invalidChange, "expected a count of at most \(UInt32.max), found \(value)")
        }
        self.integer(count)
    }

    mutating func data(_ value: [UInt8]) throws(StoreError) {
        try self.count(value.count)
        self.bytes.append(contentsOf: value)
    }

    mutating func secret(_ value: Secret) throws(StoreError) {
        try self.count(value.count)
        value.withUnsafeBytes { self.bytes.append(contentsOf: $0) }
    }

    /// Overwrites the bytes: of a writer of secrets, once they are sealed.
    mutating func wipe() { Sodium.wipe(&self.bytes) }

    mutating func text(_ value: String) throws(StoreError) { try self.data(Array(value.utf8)) }

    mutating func optional(_ value: [UInt8]?) throws(StoreError) {
        self.integer(UInt8(value == nil ? 0 : 1))
        if let value { try self.data(value) }
    }
}

/// Reads the fields that ``FieldWriter`` wrote. Every call throws `StoreError.Code.corrupt`, naming the place, if the
/// bytes do not match the requested field.
struct FieldReader {
    private var rest: ArraySlice<UInt8>
    let place: Place

    init(_ bytes: [UInt8], _ place: Place) {
        self.rest = bytes[...]
        self.place = place
    }

    mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) throws(StoreError) -> Integer
    {
        try self.consume(Integer.bitWidth / 8).reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
    }

    mutating func data() throws(StoreError) -> [UInt8] {
        let count = try self.integer(UInt32.self)
        return Array(try self.consume(Int(count)))
    }

    /// Reads bytes directly into a secret.
    mutating func secret() throws(StoreError) -> Secret {
        let count = try self.integer(UInt32.self)
        return Secret(try self.consume(Int(count)))
    }

    mutating func text() throws(StoreError) -> String {
        guard let text = String(validating: try self.data(), as: UTF8.self) else {
            throw self.place.corrupt("text is not UTF-8")
        }
        return text
    }

    mutating func optional() throws(StoreError) -> [UInt8]? {
        switch try self.integer(UInt8.self) {
        case 0: nil
        case 1: try self.data()
        default: throw self.place.corrupt("invalid presence byte of an optional")
        }
    }

    var isAtEnd: Bool { self.rest.isEmpty }

    func finish() throws(StoreError) {
        guard self.rest.isEmpty else { throw self.place.corrupt("\(self.rest.count) bytes follow the last field") }
    }

    private mutating func consume(_ count: Int) throws(StoreError) -> ArraySlice<UInt8> {
        guard self.rest.count >= count else { throw self.place.corrupt("the value ends early") }
        defer { self.rest = self.rest.dropFirst(count) }
        return self.rest.prefix(count)
    }
}
