import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// References to files; the fixtures are those of MDK 0.9.14.
struct AttachmentReferenceTests {
    private static let ab = String(repeating: "ab", count: 32)
    private static let cd = String(repeating: "cd", count: 32)
    private static let required = [
        "imeta", "v encrypted-media-v2", "locator blossom-v1 https://media.example/\(ab).bin",
        "ciphertext_sha256 \(ab)", "plaintext_sha256 \(cd)", "nonce efefefefefefefefefefefef", "m image/jpeg",
        "filename photo.jpg",
    ]

    static func example() throws -> AttachmentReference { try AttachmentReference(Tag(values: self.required)) }

    /// The required fields with other ones in place of those that start like them, and further ones.
    private func tag(_ changes: String..., adding fields: [String] = []) -> Tag {
        var values = Self.required
        for change in changes {
            let name = String(change.unicodeScalars.prefix { $0 != " " }) + " "
            for index in values.indices where values[index].hasPrefix(name) { values[index] = change }
        }
        return Tag(values: values + fields)
    }

    @Test func goldenTagsRoundTrip() throws {
        let hints = ["dim 1920x1080", "thumbhash 1QcSHQRnh493V4dIh4eXh1h4kJUI"]
        let full = try AttachmentReference(self.tag(adding: hints))
        #expect(full.tag == self.tag(adding: hints))
        #expect(full.dimensions == "1920x1080" && full.thumbhash == "1QcSHQRnh493V4dIh4eXh1h4kJUI")
        #expect(full.blobHash.hex == Self.ab && full.hash.hex == Self.cd)
        #expect(full.nonce == [UInt8](repeating: 0xEF, count: 12) && full.type.description == "image/jpeg")
        #expect(full.locators == [.blossom("https://media.example/\(Self.ab).bin")])
        let audio = self.tag("m audio/ogg", "filename voice.ogg")
        let minimal = try AttachmentReference(audio)
        #expect(minimal.tag == audio && minimal.dimensions == nil && minimal.thumbhash == nil)
        let empty = try AttachmentReference(self.tag(adding: ["dim "]))
        #expect(empty.dimensions?.isEmpty == true && empty.tag == self.tag(adding: ["dim "]))
        let blank = try AttachmentReference(self.tag("filename  "))
        #expect(blank.filename == " " && blank.tag == self.tag("filename  "))
    }

    @Test func keepsUnknownLocatorsAndIgnoresUnknownFields() throws {
        var values = Self.required
        values.insert("locator mirror-v9 https://mirror.example/blob", at: 3)
        let attachment = try AttachmentReference(Tag(values: values))
        #expect(attachment.locators.map(\.kind) == ["blossom-v1", "mirror-v9"])
        #expect(attachment.tag.values == values)
        let shuffled = ["imeta", "x", "alt text", ""] + Self.required.dropFirst().reversed()
        #expect(try AttachmentReference(Tag(values: shuffled)) == Self.example())
    }

    @Test(arguments: ["v", "locator", "ciphertext_sha256", "plaintext_sha256", "nonce", "m", "filename"])
    func needsEveryRequiredField(name: String) {
        let without = Self.required.filter { !$0.hasPrefix(name + " ") }
        expectError(.badTag) { _ = try AttachmentReference(Tag(values: without)) }
        expectError(.badTag) { _ = try AttachmentReference(Tag(values: without + [name])) }
        expectError(.badTag) { _ = try AttachmentReference(Tag(values: without + [name + " "])) }
    }

    @Test(arguments: [
        ("m Image/JPG", "canonical"), ("m image/jpg", "canonical"), ("m image/jpeg ", "canonical"),
        ("m image", "type/subtype"), ("filename bad\0name.jpg", "file name"), ("v encrypted-media-v1", "expected v"),
        ("nonce 00", "nonce"), ("nonce xx", "hexadecimal"), ("ciphertext_sha256 00", "hexadecimal"),
        ("locator blossom-v1 ftp://a.example/x", "http"), ("locator blossom-v1 x", "http"), ("locator k x", "URL"),
        ("locator blossom-v1", "kind and a value"), ("locator  https://a.example/", "kind and a value"),
        ("locator blossom-v1  ", "kind and a value"),
    ])
    func refusesMalformedFields(field: String, reason: String) {
        expectError(.badTag, reason) { _ = try AttachmentReference(self.tag(field)) }
    }

    @Test func refusesRepeatedFieldsAndBlurhash() {
        let name = String(repeating: "a", count: 256)
        expectError(.badTag, "file name") { _ = try AttachmentReference(self.tag("filename \(name)")) }
        for field in Self.required.dropFirst() + ["dim 1x1", "thumbhash x"] where !field.hasPrefix("locator ") {
            let fields = Self.required.contains(field) ? [field] : [field, field]
            expectError(.badTag, "exactly one") { _ = try AttachmentReference(self.tag(adding: fields)) }
        }
        for field in ["blurhash", "blurhash x"] {
            expectError(.badTag, "blurhash") { _ = try AttachmentReference(self.tag(adding: [field])) }
        }
        expectError(.badTag) { _ = try AttachmentReference(Tag("e", "x")) }
        expectError(.badTag) { _ = try AttachmentReference(Tag(values: [])) }
    }

    @Test func filenamesAreComparedByBytes() throws {
        let (first, second) = (
            try AttachmentReference(self.tag("filename Caf\u{e9}")),
            try AttachmentReference(self.tag("filename Cafe\u{301}"))
        )
        #expect(first != second)
        let combining = try AttachmentReference(self.tag("filename \u{301}a"))
        #expect(combining.filename.utf8.elementsEqual("\u{301}a".utf8))
    }

    // MARK: Types

    private static let types: [(String, String?)] = [
        ("image/png", "image/png"), ("Image/PNG", "image/png"), (" image/jpg ", "image/jpeg"),
        ("image/JPG;q=1", "image/jpeg"), ("\timage/webp\r\n", "image/webp"), ("\u{b}image/png", nil), ("image", nil),
        ("image/", nil), ("/png", nil), ("image/png/x", nil), ("image/p ng", nil), ("imagé/png", nil), ("", nil),
        ("application/vnd.example+json", "application/vnd.example+json"),
        ("text/plain; charset=utf-8", "text/plain"), ("a/" + String(repeating: "b", count: 65), nil),
        (String(repeating: "a", count: 64) + "/" + String(repeating: "b", count: 64), nil),
    ]

    /// The results of MDK 0.11.0.
    @Test(arguments: types) func typesMatchMDK(declared: String, canonical: String?) throws {
        guard let canonical else { return expectError(.badMedia) { _ = try CanonicalMediaType(declared) } }
        #expect(try CanonicalMediaType(declared).description == canonical)
        #expect(try CanonicalMediaType(canonical: canonical).description == canonical)
        guard declared != canonical else { return }
        expectError(.badMedia, "canonical") { _ = try CanonicalMediaType(canonical: declared) }
    }

    // MARK: Encryption

    struct Vector: Sendable {
        let filename, type, nonce, plaintext, key, ciphertext, blobHash: String
    }

    private static let secret = "f5415bcd1e3e5d635f932f3fcfc67e0f267d28a875b1ac0891ee6a50d59ed306"

    /// Made by MDK 0.11.0.
    private static let vectors = [
        Vector(
            filename: "photo.png", type: "image/png", nonce: "111111111111111111111111",
            plaintext: "89504e470d0a1a0a6e6f7374726320773234206d6564696120763220766563746f72",
            key: "549fef6df50047706db8ef9ba811c0bd3426f884c6814595797b6f49e7bd876c",
            ciphertext: "dae1c5e9b3fb2b73cc3dfda96f39ccdd8fbe61d7c77be9f44549d8fe92452053"
                + "85a1268ee49276a8da3cfd3f9ae95c44ec28",
            blobHash: "e070ce7e9b51d7e9ff9e7b60392da225d27559f3d36d8711905ce894478cba9a"),
        Vector(
            filename: "été 写真 1.jpg", type: " Image/JPG; charset=binary ", nonce: "a5a5a5a5a5a5a5a5a5a5a5a5",
            plaintext: "4a4649462d69736820627974657320666f722061206a706567",
            key: "e5e093c0b44b37cc7e158ed686f88e56cd414a8727ed8ec455417aa6fb61be7f",
            ciphertext: "0a7eb7c41547354f4be441954b6056b91b8f15761d3cbcab95d02917f870fd01"
                + "99f00139e928853dde",
            blobHash: "ea852d0210c6f48036859ee21ff8ad5842cf233ccc032a266ca39fc6209e16d1"),
        Vector(
            filename: " Photo.JPG ", type: "application/octet-stream", nonce: "000102030405060708090a0b",
            plaintext: "00", key: "2ccef43bf8ccab7407485c1fa15256722c96b98266227ad296b7d1d545428121",
            ciphertext: "4f9f2dd830cb4b38e50b751c5cb66511a4",
            blobHash: "d4a7d827d96a7d49975eedb8f9f973549f6577fc16e6dbe1e42e210b690688b7"),
    ]

    private func encrypt(_ vector: Vector) throws -> EncryptedAttachment {
        try AttachmentEncryption.encrypt(
            V2Vectors.bytes(vector.plaintext), type: CanonicalMediaType(vector.type), filename: vector.filename,
            secret: Secret(V2Vectors.bytes(Self.secret)), nonce: V2Vectors.bytes(vector.nonce))
    }

    @Test(arguments: vectors) func encryptionMatchesMDK(_ vector: Vector) throws {
        let file = try self.encrypt(vector)
        #expect(Hex.encode(file.blob) == vector.ciphertext && file.blobHash.hex == vector.blobHash)
        let attachment = try file.attachment(at: [.blossom("https://blossom.example/\(vector.blobHash)")])
        let key = AttachmentEncryption.key(of: attachment, secret: Secret(try V2Vectors.bytes(Self.secret)))
        #expect(Hex.encode(key.copyBytes()) == vector.key)
        let received = try AttachmentReference(attachment.tag)
        let plaintext = try AttachmentEncryption.decrypt(file.blob, of: received, key: key)
        #expect(Hex.encode(plaintext) == vector.plaintext)
    }

    @Test func everyPartIsBoundToTheKey() throws {
        let file = try self.encrypt(Self.vectors[0])
        let place = [AttachmentReference.Locator.blossom("https://blossom.example/x")]
        let secret = Secret(try V2Vectors.bytes(Self.secret))
        let original = try file.attachment(at: place)
        func expect(
            _ text: String, blob: [UInt8]? = nil, hash: Bytes32? = nil, type: String = "image/png",
            filename: String = "photo.png", secret: Secret
        ) throws {
            let blob = blob ?? file.blob
            let attachment = try AttachmentReference(
                locators: place, blobHash: #require(Bytes32(SHA256Derivation.digest(blob))), hash: hash ?? file.hash,
                nonce: file.nonce, type: CanonicalMediaType(type), filename: filename)
            let key = AttachmentEncryption.key(of: attachment, secret: secret)
            expectError(.badMedia, text) { _ = try AttachmentEncryption.decrypt(blob, of: attachment, key: key) }
        }
        var tampered = file.blob
        tampered[3] ^= 1
        try expect("does not decrypt", blob: tampered, secret: secret)
        try expect("does not decrypt", filename: "photo2.png", secret: secret)
        try expect("does not decrypt", type: "image/jpeg", secret: secret)
        try expect("does not decrypt", secret: Secret([UInt8](repeating: 1, count: 32)))
        let key = AttachmentEncryption.key(of: original, secret: secret)
        expectError(.badMedia, "the blob's hash") {
            _ = try AttachmentEncryption.decrypt(tampered, of: original, key: key)
        }
        expectError(.badMedia, "32 bytes") {
            _ = try AttachmentEncryption.decrypt(file.blob, of: original, key: Secret([1]))
        }
    }

    /// A sender states a hash that its file does not have; made by MDK 0.11.0.
    @Test func checksThePlaintextHash() throws {
        let blob = try V2Vectors.bytes(
            "3ddeff8eca995459c13eefb4703f888acde620d3cc6be5ed1120e7405837ce56abdefbb2660b0aec25")
        let attachment = try AttachmentReference(
            locators: [.blossom("https://blossom.example/x")],
            blobHash: V2Vectors.bytes32("d9d291de6ab1d837263bf2e472c254fc37c2a706cf3a604b478129ba0160243d"),
            hash: V2Vectors.bytes32("f8d3770289d1e5f54f03f2a5866b49637dee43ad605c8037750291be648b7b23"),
            nonce: [UInt8](repeating: 0x11, count: 12), type: CanonicalMediaType("image/png"), filename: "photo.png")
        let key = AttachmentEncryption.key(of: attachment, secret: Secret(try V2Vectors.bytes(Self.secret)))
        expectError(.badMedia, "the file's hash") {
            _ = try AttachmentEncryption.decrypt(blob, of: attachment, key: key)
        }
    }

    @Test func noncesAreFresh() throws {
        var rng = SplitMix64(seed: 1)
        let type = try CanonicalMediaType("text/plain")
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let files = try (0..<2).map { _ in
            try AttachmentEncryption.encrypt([1, 2, 3], type: type, filename: "a", secret: secret, using: &rng)
        }
        #expect(files[0].nonce != files[1].nonce && files[0].blob != files[1].blob)
        expectError(.badMedia, "file name") {
            _ = try AttachmentEncryption.encrypt([], type: type, filename: "", secret: secret, using: &rng)
        }
    }
}
