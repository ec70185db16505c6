public import MLS

/// Keys that a group shares for encrypting files outside MLS messages (MIP-04 §"Key derivation").
public enum EncryptedMedia {
    /// Returns the media secret of the group's current epoch.
    public static func secret(_ group: MarmotGroup) -> Secret {
        group.profile.mediaSecret(group.mls)
    }

    /// Derives the 32-byte key of one file: HKDF-Expand without extract (docs/protocol/marmot.md §6.1).
    ///
    /// - Parameters:
    ///   - hash: SHA-256 of the plaintext, 32 bytes.
    ///   - mimeType: canonical, i.e. lowercase and without parameters.
    public static func key(_ secret: Secret, hash: [UInt8], mimeType: String, filename: String) -> Secret {
        let context = self.context(hash: hash, mimeType: mimeType, filename: filename)
        let info = context + [0] + Array("key".utf8)
        return SHA256Derivation.expand(secret, info: info, length: 32)
    }

    /// Returns the additional authenticated data of a file's blob, which also starts the `info` of its key.
    static func context(hash: [UInt8], mimeType: String, filename: String) -> [UInt8] {
        let label = Array(MediaReference.version.utf8)
        return label + [0] + hash + [0] + Array(mimeType.utf8) + [0] + Array(filename.utf8)
    }
}
