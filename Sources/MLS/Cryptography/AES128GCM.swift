/// AES-128-GCM (NIST SP 800-38D) for protocols that ride on MLS and encrypt with an exported secret.
public enum AES128GCM {
    /// Bytes of a key.
    public static let keyLength = 16
    /// Bytes that the tag adds.
    public static let tagLength = 16
    /// Bytes of a nonce.
    public static let nonceLength = 12

    /// Ciphertext with the tag appended; `key` has 16 bytes, `nonce` 12, and the two together are used once.
    public static func seal(
        _ plaintext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws -> [UInt8] {
        self.requireLengths(key, nonce)
        return try AEAD.aes128GCM.seal(plaintext, key: key, nonce: nonce, additionalData: additionalData)
    }

    /// The plaintext, or ``MLSError/Code/decryptionFailed``.
    public static func open(
        _ ciphertext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws(MLSError) -> [UInt8] {
        self.requireLengths(key, nonce)
        return try AEAD.aes128GCM.open(ciphertext, key: key, nonce: nonce, additionalData: additionalData)
    }

    private static func requireLengths(_ key: Secret, _ nonce: [UInt8]) {
        precondition(
            key.count == self.keyLength && nonce.count == self.nonceLength, "a key has 16 bytes and a nonce 12")
    }
}
