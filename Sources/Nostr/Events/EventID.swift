/// Id of an event: SHA-256 of its canonical serialisation (NIP-01).
public struct EventID: Hashable, Comparable, Sendable, CustomStringConvertible {
    let value: Bytes32

    init(value: Bytes32) { self.value = value }

    /// Throws `NostrError.Code.invalidLength` unless there are 32 bytes.
    public init(bytes: some Collection<UInt8>) throws(NostrError) {
        guard let value = Bytes32(bytes) else {
            throw NostrError(.invalidLength, "event id: expected 32 bytes, found \(bytes.count)")
        }
        self.value = value
    }

    /// Throws `NostrError.Code.invalidHex` unless there are 64 hexadecimal digits.
    public init(hex: String) throws(NostrError) {
        guard let value = Bytes32(hex: hex) else {
            throw NostrError(.invalidHex, "event id: expected 64 hexadecimal digits")
        }
        self.value = value
    }

    /// The 32 bytes of the hash.
    public var bytes: [UInt8] { value.bytes }
    /// The hash as 64 lower-case hexadecimal digits, as in events and `e` tags.
    public var hex: String { value.hex }
    /// The same as ``hex``.
    public var description: String { hex }

    /// Compares byte by byte, as NIP-01 does for events of the same time.
    public static func < (left: EventID, right: EventID) -> Bool { left.value < right.value }
}
