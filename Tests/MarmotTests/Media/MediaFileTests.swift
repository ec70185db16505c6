import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct MediaFileTests {
    private static let secret = Secret([UInt8](repeating: 0x42, count: 32))
    private static let hello = Array("hello".utf8)

    private func encrypted() throws -> (blob: [UInt8], file: MediaReference) {
        var rng = CountingGenerator()
        let file = try EncryptedMedia.encrypt(
            Self.hello, type: MediaType("text/plain"), filename: "a.txt", secret: Self.secret, using: &rng)
        return (file.blob, try file.reference(url: "https://blossom.example/0a"))
    }

    private func key(_ file: MediaReference) -> MediaKey { MediaKey(of: file, secret: Self.secret) }

    /// `file` with another nonce, hash, type or name.
    private func changed(
        _ file: MediaReference, type: String = "text/plain", filename: String = "a.txt", hash: Bytes32? = nil,
        nonce: [UInt8]? = nil
    ) throws -> MediaReference {
        try MediaReference(
            url: file.url, type: MediaType(type), filename: filename, hash: hash ?? file.hash,
            nonce: nonce ?? file.nonce)
    }

    @Test func keyAndBlobMatchPeers() throws {
        var rng = CountingGenerator()
        let file = try EncryptedMedia.encrypt(
            Self.hello, type: MediaType("Text/Plain; charset=utf-8"), filename: "a.txt", secret: Self.secret,
            using: &rng)
        #expect(file.hash.hex == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        #expect(Hex.encode(file.nonce) == "000102030405060708090a0b")
        #expect(Hex.encode(file.blob) == "045dd0a23f047c4bedfb384677c706235197360ba2")
        #expect(file.blobHash.hex == "cae496d2a923d147eb918d84cec62c034a93ef0d0c892550451828778cd953de")
        let key = self.key(try file.reference(url: "u"))
        #expect(
            Hex.encode(key.secret.copyBytes()) == "6ae6d8cbf39d3b0c0aa2c8971cddee24626f7c4d8c5029dbdb5fb240b00fd180")
    }

    @Test func extractionMatchesOlderPeers() {
        let file = SHA256Derivation.digest(Self.hello)
        let info =
            EncryptedMedia.context(hash: file, mimeType: "text/plain", filename: "a.txt") + [0] + Array("key".utf8)
        let key = SHA256Derivation.expand(
            SHA256Derivation.extract(inputKeyMaterial: Self.secret), info: info, length: 32)
        #expect(Hex.encode(key.copyBytes()) == "0479f81f2e4ef456110ca1aaf169169730ad8a115bc0dc59b3f31b78f094d551")
    }

    @Test func opensFilesWithStoredKey() throws {
        var rng = SplitMix64(seed: 1)
        for size in [0, 1, 63, 64, 65, 100_000] {
            let plaintext = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            let file = try EncryptedMedia.encrypt(
                plaintext, type: .octetStream, filename: "Zürich 1.bin", secret: Self.secret, using: &rng)
            #expect(file.blob.count == size + 16)
            let received = try MediaReference(file.reference(url: "u").tag)
            let stored = self.key(received).secret.copyBytes()
            let key = try MediaKey(stored: Secret(stored))
            #expect(try EncryptedMedia.decrypt(file.blob, of: received, keys: [key]) == plaintext)
        }
        expectError(.badStoredForm) { _ = try MediaKey(stored: Secret([1])) }
    }

    @Test func triesKeysOfNeighbouringEpochs() throws {
        let (blob, file) = try self.encrypted()
        let other = MediaKey(of: file, secret: Secret([UInt8](repeating: 1, count: 32)))
        #expect(try EncryptedMedia.decrypt(blob, of: file, keys: [other, self.key(file)]) == Self.hello)
        expectError(.badMedia, "none of 1") { _ = try EncryptedMedia.decrypt(blob, of: file, keys: [other]) }
        expectError(.badMedia, "none of 0") { _ = try EncryptedMedia.decrypt(blob, of: file, keys: []) }
    }

    @Test func detectsEveryChangedBit() throws {
        let (blob, file) = try self.encrypted()
        for bit in 0..<blob.count * 8 {
            var tampered = blob
            tampered[bit / 8] ^= 1 << UInt8(bit % 8)
            expectError(.badMedia, "decrypts") {
                _ = try EncryptedMedia.decrypt(tampered, of: file, keys: [self.key(file)])
            }
        }
        for count in 0..<blob.count {
            expectError(.badMedia, "decrypts") {
                _ = try EncryptedMedia.decrypt(Array(blob[..<count]), of: file, keys: [self.key(file)])
            }
        }
        expectError(.badMedia, "decrypts") {
            _ = try EncryptedMedia.decrypt(blob + [0], of: file, keys: [self.key(file)])
        }
    }

    /// The key is correct each time, so the additional data or the nonce differs.
    @Test func changedReferencesDoNotOpen() throws {
        let (blob, file) = try self.encrypted()
        var nonce = file.nonce
        nonce[11] ^= 1
        var hash = file.hash.bytes
        hash[31] ^= 1
        for reference in [
            try self.changed(file, nonce: nonce), try self.changed(file, hash: Bytes32(hash)),
            try self.changed(file, type: "application/pdf"), try self.changed(file, filename: "b.txt"),
        ] {
            expectError(.badMedia, "decrypts") {
                _ = try EncryptedMedia.decrypt(blob, of: reference, keys: [self.key(file)])
            }
            #expect(reference.nonce != file.nonce || self.key(reference) != self.key(file))
        }
    }

    @Test func checksThePlaintextHash() throws {
        // The sender states a hash that its file does not have.
        let (_, file) = try self.encrypted()
        let blob = try ChaCha20Poly1305.seal(
            Array("other".utf8), key: self.key(file).secret, nonce: file.nonce,
            additionalData: EncryptedMedia.context(
                hash: file.hash.bytes, mimeType: file.type.description, filename: file.filename))
        expectError(.badMedia, "hash") { _ = try EncryptedMedia.decrypt(blob, of: file, keys: [self.key(file)]) }
    }

    @Test func refusesLargeFiles() throws {
        let (_, file) = try self.encrypted()
        var rng = SplitMix64(seed: 2)
        let large = [UInt8](repeating: 0, count: (100 << 20) + 17)
        expectError(.tooLarge) {
            _ = try EncryptedMedia.encrypt(
                Array(large.dropLast(16)), type: .octetStream, filename: "a", secret: Self.secret, using: &rng)
        }
        expectError(.tooLarge) { _ = try EncryptedMedia.decrypt(large, of: file, keys: [self.key(file)]) }
    }

    @Test func refusesDisguisedImagesAndInvalidNames() throws {
        var rng = SplitMix64(seed: 3)
        let png = try MediaType("image/png")
        let gif = Array("GIF89a".utf8)
        expectError(.badMedia, "first bytes") {
            _ = try EncryptedMedia.encrypt(gif, type: png, filename: "a.png", secret: Self.secret, using: &rng)
        }
        for name in ["", "a/b", "a\\b", "a\0b", String(repeating: "a", count: 211)] {
            expectError(.badMedia, "filename") {
                _ = try EncryptedMedia.encrypt(
                    gif, type: .octetStream, filename: name, secret: Self.secret, using: &rng)
            }
        }
    }
}
