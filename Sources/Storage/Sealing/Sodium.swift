import CSodium

/// libsodium, initialised once.
enum Sodium {
    private static let isReady: Bool = sodium_init() >= 0

    static func prepare() {
        precondition(self.isReady, "libsodium could not be initialised")
    }

    /// Overwrites the bytes in a way that optimisers do not remove. The array must have no other owner.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
    }

    /// Fills a buffer from the system's generator.
    ///
    /// Nonces and keys never come from a generator argument: a seeded one would give two databases, or two runs over
    /// one database, the same nonces under the same key.
    static func fillRandomly(_ buffer: UnsafeMutableRawBufferPointer) {
        self.prepare()
        if let base = buffer.baseAddress { randombytes_buf(base, buffer.count) }
    }
}
