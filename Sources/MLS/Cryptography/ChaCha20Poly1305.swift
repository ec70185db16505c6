/// ChaCha20-Poly1305 (RFC 8439) for protocols that ride on MLS and encrypt with an exported secret.
public enum ChaCha20Poly1305 {
    /// Bytes that the tag adds.
    public static let tagLength = 16
    /// Bytes of a nonce.
    public static let nonceLength = 12

    /// Ciphertext with the tag appended; `key` has 32 bytes, `nonce` 12.
    public static func seal(
        _ plaintext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws -> [UInt8] {
        precondition(key.count == 32 && nonce.count == self.nonceLength, "a key has 32 bytes and a nonce 12")
        return try AEAD.chaCha20Poly1305.seal(plaintext, key: key, nonce: nonce, additionalData: additionalData)
    }

    /// The plaintext, or ``MLSError/Code/decryptionFailed``.
    public static func open(
        _ ciphertext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws(MLSError) -> [UInt8] {
        precondition(key.count == 32 && nonce.count == self.nonceLength, "a key has 32 bytes and a nonce 12")
        return try AEAD.chaCha20Poly1305.open(ciphertext, key: key, nonce: nonce, additionalData: additionalData)
    }
}
