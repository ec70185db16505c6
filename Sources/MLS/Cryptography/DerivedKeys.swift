/// SHA-256 and HKDF for protocols that derive their own keys from an exported secret.
public enum SHA256Derivation {
    /// Returns the SHA-256 of `bytes`: 32 bytes.
    public static func digest(_ bytes: [UInt8]) -> [UInt8] { HashAlgorithm.sha256.digest(bytes) }

    /// Returns HKDF-Extract (RFC 5869 §2.2) with SHA-256: 32 bytes. An empty salt means "not provided".
    public static func extract(salt: [UInt8] = [], inputKeyMaterial: Secret) -> Secret {
        HashAlgorithm.sha256.extract(salt: Secret(salt), inputKeyMaterial: inputKeyMaterial)
    }

    /// Returns HKDF-Expand (RFC 5869 §2.3) with SHA-256: `length` bytes, at most 8,160.
    public static func expand(_ pseudorandomKey: Secret, info: [UInt8], length: Int) -> Secret {
        HashAlgorithm.sha256.expand(pseudorandomKey, info: info, length: length)
    }
}
