import CSodium

/// Wrappers of the libsodium functions that this module uses; they initialise the library once.
enum Sodium {
    private static let ready: Bool = sodium_init() >= 0

    /// Overwrites the bytes in a way that optimisers do not remove. The array must not be shared: a shared array is
    /// copied first, and only the copy is wiped.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
    }

    /// Compares two byte strings in time that depends only on their length.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && sodium_memcmp(left, right, left.count) == 0
    }

    /// Applies ChaCha20 (RFC 8439) with the block counter starting at 0.
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

    /// Computes scrypt (RFC 7914) with r = 8 and p = 1, which needs N KiB of memory; nil if there is not enough memory.
    static func scrypt(_ password: UnsafeRawBufferPointer, salt: [UInt8], logN: UInt8) -> SecretBytes? {
        precondition(ready, "libsodium could not be initialised")
        let password = password.bindMemory(to: UInt8.self)
        guard let start = password.baseAddress else { preconditionFailure("secret memory must have an address") }
        var isDone = false
        let key = SecretBytes(count: 32) { memory in
            guard let output = memory.bindMemory(to: UInt8.self).baseAddress else { return }
            let status = crypto_pwhash_scryptsalsa208sha256_ll(
                start, password.count, salt, salt.count, 1 << UInt64(logN), 8, 1, output, memory.count)
            isDone = status == 0
        }
        return isDone ? key : nil
    }

    /// Encrypts with XChaCha20-Poly1305 and appends the 16-byte tag. The nonce has 24 bytes.
    static func seal(
        _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], associatedData: [UInt8]
    ) -> [UInt8] {
        precondition(nonce.count == 24, "XChaCha20-Poly1305 takes a nonce of 24 bytes")
        var output = [UInt8](repeating: 0, count: plaintext.count + 16)
        withKey(key) { key in
            _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                &output, nil, plaintext, UInt64(plaintext.count), associatedData, UInt64(associatedData.count), nil,
                nonce, key)
        }
        return output
    }

    /// Reverses ``seal(_:key:nonce:associatedData:)``; nil if the tag is wrong. The caller must wipe the result.
    static func open(
        _ ciphertext: [UInt8], key: SecretBytes, nonce: [UInt8], associatedData: [UInt8]
    ) -> [UInt8]? {
        precondition(nonce.count == 24, "XChaCha20-Poly1305 takes a nonce of 24 bytes")
        guard ciphertext.count >= 16 else { return nil }
        var output = [UInt8](repeating: 0, count: ciphertext.count - 16)
        let isOpen = withKey(key) { key in
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                &output, nil, nil, ciphertext, UInt64(ciphertext.count), associatedData, UInt64(associatedData.count),
                nonce, key) == 0
        }
        return isOpen ? output : nil
    }

    private static func withKey<Result>(_ key: SecretBytes, _ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        precondition(ready, "libsodium could not be initialised")
        return key.withUnsafeBytes { memory in
            guard memory.count == 32, let key = memory.assumingMemoryBound(to: UInt8.self).baseAddress else {
                preconditionFailure("XChaCha20-Poly1305 takes a key of 32 bytes")
            }
            return body(key)
        }
    }
}
