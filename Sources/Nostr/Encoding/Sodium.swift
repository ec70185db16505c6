import CSodium

/// The few libsodium calls used here, behind one initialisation.
enum Sodium {
    private static let ready: Bool = sodium_init() >= 0

    /// Overwrites the bytes in a way no optimiser removes. The array must have no other owner: a shared one is
    /// copied first, and only the copy is wiped.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
    }

    /// Compares in time that depends only on the length.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && sodium_memcmp(left, right, left.count) == 0
    }

    /// ChaCha20 as of RFC 8439, block counter from 0.
    static func chacha20(
        _ input: [UInt8], key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer
    ) -> [UInt8] {
        precondition(ready, "libsodium could not be initialised")
        guard key.count == 32, let key = key.assumingMemoryBound(to: UInt8.self).baseAddress,
            nonce.count == 12, let nonce = nonce.assumingMemoryBound(to: UInt8.self).baseAddress
        else { preconditionFailure("ChaCha20 takes a key of 32 and a nonce of 12 bytes") }
        var output = [UInt8](repeating: 0, count: input.count)
        crypto_stream_chacha20_ietf_xor(&output, input, UInt64(input.count), nonce, key)
        return output
    }
}
