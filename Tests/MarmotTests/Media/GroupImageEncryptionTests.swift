import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct GroupImageEncryptionTests {
    private static let seed = [UInt8](0...31)
    private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array("rest".utf8)

    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

    private func encrypted() throws -> GroupImageEncryption.Encrypted {
        var rng = CountingGenerator()
        return try GroupImageEncryption.encrypt(Self.picture, type: MediaType("image/png"), using: &rng)
    }

    @Test func derivedKeysMatchPeers() throws {
        let key = GroupImageEncryption.encryptionKey(seed: Secret(Self.seed))
        #expect(Hex.encode(key.copyBytes()) == "2880a3496fc1f9705e5a0df3c0a409b00a3e4d94dce2f8bc44e02fbabf94d2fa")

        let second = GroupImage(hash: [], key: Array(repeating: 9, count: 32), nonce: [], uploadKey: Self.seed)
        #expect(
            try Hex.encode(GroupImageEncryption.uploadIdentity(of: second).secretBytes)
                == "dfee44847bcb588442ea66bf784d2b9664c4d3b1e9dfe7e977d3ac06d988f7a5")
        let first = GroupImage(hash: [], key: Self.seed, nonce: [], uploadKey: [])
        #expect(
            try Hex.encode(GroupImageEncryption.uploadIdentity(of: first).secretBytes)
                == "1562210209ef2a210bb62510233815b34bfdea4c74713d3d3802c8ea454b87be")
    }

    @Test func imagesUseFreshSeeds() throws {
        let result = try self.encrypted()
        #expect(result.image.key == Self.seed)
        #expect(result.image.uploadKey == [UInt8](32...63))
        #expect(result.image.nonce == [UInt8](64...75))
        #expect(Hex.encode(result.blob) == "0ac12037e8a22fe1e555b2cf4bd18e3800b33fa412ca571d4e074ad7")
        #expect(result.image.hash == SHA256Derivation.digest(result.blob))
        #expect(try GroupImageEncryption.decrypt(result.blob, of: result.image) == Self.picture)
    }

    @Test(arguments: [
        (
            "d80870f1983c9eabab6e6c8607ac0aa45ee8b211d9a2d0258a796892",
            "c0a6faba2274fdafac32bb5e357c995f48c5a2a0ac5928f39479e85adaed0f29"
        ),
        (
            "00ab4647241dbf4ac5e64c873aff3ba96924ec1ce14daf2adb8777bd",
            "d6acf2eb47df448a8502951bc1823127ae66ecc1b2d9287273aa0dde8aa35763"
        ),
    ])
    func opensBlobsOfBothVersions(blob: String, hash: String) throws {
        let blob = try self.bytes(blob)
        var image = GroupImage(hash: try self.bytes(hash), key: Self.seed, nonce: [UInt8](0...11), uploadKey: [])
        #expect(try GroupImageEncryption.decrypt(blob, of: image) == Self.picture)
        image.hash = []
        #expect(try GroupImageEncryption.decrypt(blob, of: image) == Self.picture)
    }

    @Test func refusesChangedBlobsAndFields() throws {
        let result = try self.encrypted()
        for bit in 0..<result.blob.count * 8 {
            var blob = result.blob
            blob[bit / 8] ^= 1 << UInt8(bit % 8)
            expectError(.badMedia, "not the one") { _ = try GroupImageEncryption.decrypt(blob, of: result.image) }
            var image = result.image
            image.hash = []
            expectError(.badMedia, "neither key version") { _ = try GroupImageEncryption.decrypt(blob, of: image) }
        }
        for field in [\GroupImage.key, \GroupImage.nonce] {
            var image = result.image
            image[keyPath: field][0] ^= 1
            expectError(.badMedia, "neither key version") {
                _ = try GroupImageEncryption.decrypt(result.blob, of: image)
            }
            image[keyPath: field].removeLast()
            expectError(.badMedia, "32 bytes") { _ = try GroupImageEncryption.decrypt(result.blob, of: image) }
        }
        var image = result.image
        image.hash.removeLast()
        expectError(.badMedia, "not the one") { _ = try GroupImageEncryption.decrypt(result.blob, of: image) }
        image.hash = []
        for count in 0..<16 {
            expectError(.badMedia, "neither key version") {
                _ = try GroupImageEncryption.decrypt(Array(result.blob[..<count]), of: image)
            }
        }
    }

    @Test func refusesNonImages() throws {
        var rng = SplitMix64(seed: 1)
        for type in [MediaType.octetStream, try MediaType("text/plain"), try MediaType("image/gif")] {
            expectError(.badMedia, "image") {
                _ = try GroupImageEncryption.encrypt(Self.picture, type: type, using: &rng)
            }
        }
        let large = [UInt8](repeating: 0, count: (100 << 20) + 17)
        expectError(.tooLarge) { _ = try GroupImageEncryption.encrypt(large, type: .octetStream, using: &rng) }
        let image = try self.encrypted().image
        expectError(.tooLarge) { _ = try GroupImageEncryption.decrypt(large, of: image) }
    }

    @Test func uploadSeedsHave32Bytes() {
        for (key, upload) in [([UInt8](), [UInt8]()), ([1], []), (Self.seed, [1]), (Self.seed, Self.seed + [0])] {
            expectError(.badMedia, "upload seed") {
                _ = try GroupImageEncryption.uploadIdentity(
                    of: GroupImage(hash: [], key: key, nonce: [], uploadKey: upload))
            }
        }
    }
}
