import CSodium
import Crypto

/// HMAC-SHA-256 (RFC 2104) that hashes the key once, so that each further message costs only its own blocks.
struct HMACSHA256 {
    private let inner: SHA256
    private let outer: SHA256

    /// Creates an HMAC with a key of at most 64 bytes, SHA-256's block size; every key of NIP-44 has at most 32 bytes.
    init(key: UnsafeRawBufferPointer) {
        precondition(key.count <= 64, "keys longer than 64 bytes are not supported")
        var block = [UInt8](repeating: 0, count: 64)
        block.withUnsafeMutableBytes { $0.copyMemory(from: key) }
        for index in 0..<64 { block[index] ^= 0x36 }
        var inner = SHA256()
        inner.update(data: block)
        for index in 0..<64 { block[index] ^= 0x36 ^ 0x5c }
        var outer = SHA256()
        outer.update(data: block)
        Sodium.wipe(&block)
        self.inner = inner
        self.outer = outer
    }

    /// Returns the authentication code of the concatenation of `parts`.
    func code(_ parts: [UInt8]...) -> [UInt8] {
        var hash = inner
        for part in parts { hash.update(data: part) }
        var finish = outer
        hash.finalize().withUnsafeBytes { finish.update(bufferPointer: $0) }
        return finish.finalize().withUnsafeBytes { [UInt8]($0) }
    }
}
