public import MLS

/// Keys that a group shares for something outside of its messages (MIP-04 §"Key derivation").
public enum EncryptedMedia {
    /// The media secret of the group's current epoch.
    public static func secret(_ group: MarmotGroup) -> Secret {
        group.mls.export(label: "marmot", context: Array("encrypted-media".utf8), length: 32)
    }

    /// The 32-byte key of one file: HKDF-Expand without extract (wire §6).
    ///
    /// - Parameters:
    ///   - hash: SHA-256 of the plaintext, 32 bytes.
    ///   - mimeType: canonical: lowercase, without parameters.
    public static func key(_ secret: Secret, hash: [UInt8], mimeType: String, filename: String) -> Secret {
        var info = Array("mip04-v2".utf8) + [0] + hash + [0]
        info += Array(mimeType.utf8) + [0] + Array(filename.utf8) + [0] + Array("key".utf8)
        return SHA256Derivation.expand(secret, info: info, length: 32)
    }
}
