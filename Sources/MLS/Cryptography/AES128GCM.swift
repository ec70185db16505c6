/// AES-128-GCM (NIST SP 800-38D) for protocols on top of MLS that encrypt with an exported secret.
public enum AES128GCM {
    /// Length of a key in bytes.
    public static let keyLength = 16
    /// Length of the tag in bytes.
    public static let tagLength = 16
    /// Length of a nonce in bytes.
    public static let nonceLength = 12

    /// Returns the ciphertext followed by the tag. `key` has 16 bytes and `nonce` 12; never use the same pair twice.
    public static func seal(
        _ plaintext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws -> [UInt8] {
        self.requireLengths(key, nonce)
        return try AEAD.aes128GCM.seal(plaintext, key: key, nonce: nonce, additionalData: additionalData)
    }

    /// Returns the plaintext, or throws `MLSError.Code.decryptionFailed`.
    public static func open(
        _ ciphertext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws(MLSError) -> [UInt8] {
        self.requireLengths(key, nonce)
        return try AEAD.aes128GCM.open(ciphertext, key: key, nonce: nonce, additionalData: additionalData)
    }

    private static func requireLengths(_ key: Secret, _ nonce: [UInt8]) {
        precondition(
            key.count == self.keyLength && nonce.count == self.nonceLength,
            "expected a key of 16 bytes and a nonce of 12")
    }
}
