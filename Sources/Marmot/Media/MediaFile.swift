public import MLS
public import Nostr

/// Key of one file, derived in the epoch of the message that carried its reference (MIP-04).
///
/// Derive and store it when the message arrives, because the group deletes the secrets of past epochs.
public struct MediaKey: Equatable, Sendable {
    /// The 32-byte key, for storing.
    public let secret: Secret

    /// Derives the key of a file.
    ///
    /// - Parameter secret: ``EncryptedMedia/secret(_:)`` of the message's epoch.
    public init(of file: MediaReference, secret: Secret) {
        self.secret = EncryptedMedia.key(
            secret, hash: file.hash.bytes, mimeType: file.type.description, filename: file.filename)
    }

    /// Restores a stored key; throws `MarmotError.Code.badStoredForm` unless it has 32 bytes.
    public init(stored: Secret) throws(MarmotError) {
        guard stored.count == 32 else {
            throw MarmotError(.badStoredForm, "file key: expected 32 bytes, found \(stored.count)")
        }
        self.secret = stored
    }
}

/// File that is encrypted and not yet uploaded.
public struct EncryptedFile: Sendable {
    /// Bytes to upload: ciphertext and tag.
    public let blob: [UInt8]
    /// SHA-256 of `blob`, by which Blossom servers name it.
    public let blobHash: Bytes32
    /// SHA-256 of the plaintext.
    public let hash: Bytes32
    /// Nonce of the encryption, 12 bytes.
    public let nonce: [UInt8]
    /// MIME type, which is bound to the encryption.
    public let type: MediaType
    /// Filename, which is bound to the encryption.
    public let filename: String

    /// Returns the reference to send once a server stores the blob at `url`.
    public func reference(
        url: String, dimensions: MediaReference.Dimensions? = nil, blurhash: String? = nil, thumbhash: String? = nil
    ) throws(MarmotError) -> MediaReference {
        try MediaReference(
            url: url, type: self.type, filename: self.filename, dimensions: dimensions, blurhash: blurhash,
            thumbhash: thumbhash, hash: self.hash, nonce: self.nonce)
    }
}

extension EncryptedMedia {
    /// Maximum size of a file before encryption, in bytes.
    public static let maximumFileBytes = 100 << 20

    /// Encrypts a file unchanged; callers must first remove metadata such as a picture's camera model and location.
    ///
    /// - Parameter secret: ``secret(_:)`` of the epoch in which the message will be sent.
    /// - Throws: `MarmotError.Code.tooLarge` above ``maximumFileBytes``; `MarmotError.Code.badMedia` for a filename
    ///   that ``MediaReference`` refuses, or an image without the signature of its type.
    public static func encrypt(
        _ file: [UInt8], type: MediaType, filename: String, secret: Secret,
        using rng: inout some RandomNumberGenerator
    ) throws(MarmotError) -> EncryptedFile {
        try self.requireSize(file.count, atMost: self.maximumFileBytes)
        try MediaReference.validate(filename: filename)
        guard type.matches(file) else {
            throw MarmotError(.badMedia, "the file's first bytes do not match type \(type) (MIP-04)")
        }
        let hash = Bytes32(sha256: file)
        let key = self.key(secret, hash: hash.bytes, mimeType: type.description, filename: filename)
        let nonce = (0..<ChaCha20Poly1305.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &rng) }
        let context = self.context(hash: hash.bytes, mimeType: type.description, filename: filename)
        let blob = try self.seal(file, key: key, nonce: nonce, additionalData: context)
        return EncryptedFile(
            blob: blob, blobHash: Bytes32(sha256: blob), hash: hash, nonce: nonce, type: type, filename: filename)
    }

    /// Decrypts a downloaded blob and checks the plaintext's hash.
    ///
    /// - Parameter keys: the stored key first, then those of neighbouring epochs, because a sender may derive the key
    ///   just before a commit and send the message after it.
    /// - Throws: `MarmotError.Code.tooLarge`; `MarmotError.Code.badMedia` if no key opens the blob or the hash
    ///   differs.
    public static func decrypt(
        _ blob: [UInt8], of file: MediaReference, keys: [MediaKey]
    ) throws(MarmotError) -> [UInt8] {
        try self.requireSize(blob.count, atMost: self.maximumFileBytes + ChaCha20Poly1305.tagLength)
        let context = self.context(
            hash: file.hash.bytes, mimeType: file.type.description, filename: file.filename)
        for key in keys {
            guard
                let plaintext = try? ChaCha20Poly1305.open(
                    blob, key: key.secret, nonce: file.nonce, additionalData: context)
            else { continue }
            guard SHA256Derivation.digest(plaintext) == file.hash.bytes else {
                throw MarmotError(.badMedia, "the file's hash does not match its reference (MIP-04)")
            }
            return plaintext
        }
        throw MarmotError(.badMedia, "none of \(keys.count) keys decrypts the file (MIP-04)")
    }

    static func requireSize(_ count: Int, atMost limit: Int) throws(MarmotError) {
        guard count <= limit else {
            throw MarmotError(.tooLarge, "the file has \(count) bytes, the maximum is \(limit)")
        }
    }

    static func seal(
        _ plaintext: [UInt8], key: Secret, nonce: [UInt8], additionalData: [UInt8] = []
    ) throws(MarmotError) -> [UInt8] {
        do {
            return try ChaCha20Poly1305.seal(plaintext, key: key, nonce: nonce, additionalData: additionalData)
        } catch { throw MarmotError(.badMedia, "encryption failed: \(error)") }
    }
}
