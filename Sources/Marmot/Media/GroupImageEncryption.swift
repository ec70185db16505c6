import MLS
public import Nostr

/// Encryption of a group's picture, and the key pair that may replace it on its server (MIP-01).
public enum GroupImageEncryption {
    /// Encrypted picture to upload, with its description for the group data.
    public struct Encrypted: Sendable {
        /// Bytes to upload: ciphertext and tag. Their SHA-256 is `image.hash`.
        public let blob: [UInt8]
        /// Hash, seeds and nonce for ``GroupData/image``.
        public let image: GroupImage
    }

    /// Encrypts a picture, unchanged, under fresh seeds (version 2).
    ///
    /// - Throws: `MarmotError.Code.tooLarge` above ``EncryptedMedia/maximumFileBytes``; `MarmotError.Code.badMedia`
    ///   if the type is not an image type or the file lacks that type's signature.
    public static func encrypt(
        _ picture: [UInt8], type: MediaType, using rng: inout some RandomNumberGenerator
    ) throws(MarmotError) -> Encrypted {
        try EncryptedMedia.requireSize(picture.count, atMost: EncryptedMedia.maximumFileBytes)
        guard type.isImage, type.matches(picture) else {
            throw MarmotError(.badMedia, "a group image's first bytes must match its image type (MIP-01)")
        }
        func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &rng) } }
        let seed = random(32)
        let uploadSeed = random(32)
        let nonce = random(ChaCha20Poly1305.nonceLength)
        let blob = try EncryptedMedia.seal(picture, key: self.encryptionKey(seed: Secret(seed)), nonce: nonce)
        let image = GroupImage(
            hash: SHA256Derivation.digest(blob), key: seed, nonce: nonce, uploadKey: uploadSeed)
        return Encrypted(blob: blob, image: image)
    }

    /// Decrypts a downloaded blob of version 2 or 1. The image format is not checked.
    ///
    /// An empty hash, found in older groups, is not checked either.
    ///
    /// - Throws: `MarmotError.Code.tooLarge`; `MarmotError.Code.badMedia` if the blob's hash is not `image.hash` or
    ///   decryption fails.
    public static func decrypt(_ blob: [UInt8], of image: GroupImage) throws(MarmotError) -> [UInt8] {
        try EncryptedMedia.requireSize(blob.count, atMost: EncryptedMedia.maximumFileBytes + ChaCha20Poly1305.tagLength)
        guard image.key.count == 32, image.nonce.count == ChaCha20Poly1305.nonceLength else {
            throw MarmotError(.badMedia, "the image's key must have 32 bytes, its nonce 12")
        }
        guard image.hash.isEmpty || SHA256Derivation.digest(blob) == image.hash else {
            throw MarmotError(.badMedia, "the blob's hash is not the one in the group data (MIP-01)")
        }
        let seed = Secret(image.key)
        for key in [self.encryptionKey(seed: seed), seed] {
            if let picture = try? ChaCha20Poly1305.open(blob, key: key, nonce: image.nonce) { return picture }
        }
        throw MarmotError(.badMedia, "neither key version decrypts the image (MIP-01)")
    }

    /// Derives the key pair that the Blossom server knows as the uploader, for replacing or deleting the blob.
    ///
    /// Version 2 derives it from the upload seed; without one, version 1 derives it from the image key.
    ///
    /// - Throws: `MarmotError.Code.badMedia` unless the seed has 32 bytes.
    public static func uploadIdentity(of image: GroupImage) throws(MarmotError) -> KeyPair {
        let seed = image.uploadKey.isEmpty ? image.key : image.uploadKey
        guard seed.count == 32 else {
            throw MarmotError(.badMedia, "upload seed: expected 32 bytes, found \(seed.count)")
        }
        let label = image.uploadKey.isEmpty ? "mip01-blossom-upload-v1" : "mip01-blossom-upload-v2"
        let secret = self.derive(label, from: Secret(seed))
        do { return try secret.withUnsafeBytes { try KeyPair(secretKey: $0) } } catch {
            throw MarmotError(.badMedia, "the upload seed yields no valid key: \(error)")
        }
    }

    static func encryptionKey(seed: Secret) -> Secret { self.derive("mip01-image-encryption-v2", from: seed) }

    // Extract, then expand, as MDK does; MIP-01 mentions expand only (docs/protocol/marmot.md §3.4).
    private static func derive(_ label: String, from seed: Secret) -> Secret {
        let key = SHA256Derivation.extract(inputKeyMaterial: seed)
        return SHA256Derivation.expand(key, info: Array(label.utf8), length: 32)
    }
}
