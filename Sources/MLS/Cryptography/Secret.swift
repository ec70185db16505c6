import CSodium

/// Secret bytes in their own memory, wiped when the last reference is released.
///
/// The object is immutable, so values that contain secrets can be copied freely. Equality takes constant time.
public final class Secret: Equatable, Sendable, CustomStringConvertible {
    // Safe: written only inside `init`, before any other reference exists; freed in `deinit`, after the last one is
    // gone.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// Allocates `count` bytes and lets `body` fill them.
    public init(count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        self.storage = .allocate(byteCount: count, alignment: 8)
        self.storage.initializeMemory(as: UInt8.self, repeating: 0)
        try body(self.storage)
    }

    /// Copies `bytes`; the caller must wipe its own copy.
    public convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    deinit {
        if let base = self.storage.baseAddress { sodium_memzero(base, self.storage.count) }
        self.storage.deallocate()
    }

    /// Length in bytes.
    public var count: Int { self.storage.count }

    /// Calls `body` with the bytes; they must not outlive the call.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(self.storage))
    }

    /// Returns a copy of the bytes that is not wiped automatically: for tests, for sealing before storage and for
    /// exporting a key.
    public func copyBytes() -> [UInt8] { Array(self.storage) }

    /// Compares the bytes in time that depends only on their number.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        guard let leftBase = left.storage.baseAddress, let rightBase = right.storage.baseAddress else { return true }
        return sodium_memcmp(leftBase, rightBase, left.count) == 0
    }

    /// The number of bytes, without their values.
    public var description: String { "Secret(\(self.count) bytes)" }
}

/// Compares two byte strings in time that depends only on their lengths.
func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && sodium_memcmp(left, right, left.count) == 0
}
