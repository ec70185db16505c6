#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Secret bytes that a bot acquired at run time, such as a token; wiped with the last reference.
///
/// It never appears in logs or errors: its description has no content.
public final class BotSecret: Sendable, Hashable, CustomStringConvertible {
    // Safe: written only inside `init`, and wiped in `deinit`, when no other reference exists.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// Copies the bytes; the caller's own copy remains.
    public init(_ bytes: some Collection<UInt8>) {
        // At least one byte, because an empty allocation may have no address.
        storage = .allocate(byteCount: max(1, bytes.count), alignment: 1)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        storage.copyBytes(from: bytes)
        count = bytes.count
    }

    /// Copies the text's UTF-8.
    public convenience init(_ text: String) { self.init(Array(text.utf8)) }

    deinit {
        wipe(storage)
        storage.deallocate()
    }

    /// Length in bytes.
    public let count: Int

    /// Calls `body` with the bytes; they must not outlive the call.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage.prefix(count)))
    }

    /// A copy as text, which is not wiped; for a header of a request.
    public var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// Compares all bytes, whatever the first difference.
    public static func == (left: BotSecret, right: BotSecret) -> Bool {
        guard left.count == right.count else { return false }
        return left.withBytes { left in
            right.withBytes { right in zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0 }
        }
    }

    /// Hashes the length only.
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }

    /// The number of bytes, without their values.
    public var description: String { "BotSecret(\(count) bytes)" }
}

/// Overwrites bytes in a way that optimisers do not remove.
private func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress else { return }
    #if canImport(Darwin)
        _ = memset_s(base, buffer.count, 0, buffer.count)
    #else
        explicit_bzero(base, buffer.count)
    #endif
}

extension [UInt8] {
    /// Overwrites the bytes; the array must have no other owner.
    mutating func wipeSecret() { withUnsafeMutableBytes { wipe($0) } }
}
