import CSodium

/// Secret memory of fixed size, wiped when the last reference is released.
final class SecretBytes: @unchecked Sendable {
    // Safe: the memory is written only in `init`, before another reference exists, and in `deinit`, after the last is
    // gone.
    private let memory: UnsafeMutableRawBufferPointer

    /// Allocates zeroed memory and lets `fill` write the secret.
    init(count: Int, alignment: Int = 8, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        memory = .allocate(byteCount: count, alignment: alignment)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        fill(memory)
    }

    convenience init(consuming bytes: inout [UInt8]) {
        self.init(count: bytes.count) { memory in memory.copyBytes(from: bytes) }
        Sodium.wipe(&bytes)
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(memory))
    }

    deinit {
        sodium_memzero(memory.baseAddress, memory.count)
        memory.deallocate()
    }
}
