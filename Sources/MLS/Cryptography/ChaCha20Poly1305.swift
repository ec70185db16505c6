/// ChaCha20-Poly1305 (RFC 8439) for protocols on top of MLS that encrypt with an exported secret.
public enum ChaCha20Poly1305 {
    /// Length of the tag in bytes.
    public static let tagLength = 16
    /// Length of a nonce in bytes.
    public static let nonceLength = 12

    /// Returns the ciphertext followed by the tag; `key` has 32 bytes, `nonce` 12.
    public static func seal(
        _ plaintext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws -> [UInt8] {
        precondition(key.count == 32 && nonce.count == self.nonceLength, "expected a key of 32 bytes and a nonce of 12")
        return try AEAD.chaCha20Poly1305.seal(plaintext, key: key, nonce: nonce, additionalData: additionalData)
    }

    /// Returns the plaintext, or throws `MLSError.Code.decryptionFailed`.
    public static func open(
        _ ciphertext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws(MLSError) -> [UInt8] {
        precondition(key.count == 32 && nonce.count == self.nonceLength, "expected a key of 32 bytes and a nonce of 12")
        return try AEAD.chaCha20Poly1305.open(ciphertext, key: key, nonce: nonce, additionalData: additionalData)
    }
}
