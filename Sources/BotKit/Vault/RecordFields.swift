/// Writes the fields of a record: integers of eight bytes, and byte strings after their length.
struct RecordWriter {
    private(set) var bytes: [UInt8]

    init(version: UInt8, capacity: Int = 0) {
        bytes = []
        // Room for everything, so that no reallocation leaves a copy of a secret behind.
        bytes.reserveCapacity(capacity)
        bytes.append(version)
    }

    mutating func integer(_ value: Int64) {
        let bits = UInt64(bitPattern: value)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
    }

    mutating func data(_ data: some Collection<UInt8>) {
        integer(Int64(data.count))
        bytes.append(contentsOf: data)
    }

    mutating func text(_ text: String) { data(Array(text.utf8)) }
}

/// Reads the fields of a record; every method returns nil for a record that ends early or is malformed.
struct RecordReader {
    private var rest: ArraySlice<UInt8>

    /// Nil for another version.
    init?(_ bytes: [UInt8], version: UInt8) {
        guard bytes.first == version else { return nil }
        rest = bytes.dropFirst()
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func integer() -> Int64? {
        guard rest.count >= 8 else { return nil }
        var bits: UInt64 = 0
        for byte in rest.prefix(8) { bits = bits << 8 | UInt64(byte) }
        rest = rest.dropFirst(8)
        return Int64(bitPattern: bits)
    }

    /// A number of elements of at least `size` bytes each.
    mutating func count(of size: Int) -> Int? {
        guard let value = integer(), value >= 0, value <= Int64(rest.count / max(1, size)) else { return nil }
        return Int(value)
    }

    mutating func data() -> ArraySlice<UInt8>? {
        guard let count = count(of: 1) else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func text() -> String? {
        guard let bytes = data() else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
