import LiveTesting
import Nostr
import Testing

@testable import Marmot

struct MediaReferenceTests {
    private static let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    private static let required = [
        "imeta", "url https://blossom.example/0a", "m text/plain", "filename a b.txt", "x \(hash)",
        "n 000102030405060708090a0b", "v mip04-v2",
    ]

    /// The required items, except the one called `name`, followed by `items`.
    private func tag(without name: String = "", adding items: String...) -> Tag {
        Tag(values: Self.required.filter { name.isEmpty || !$0.hasPrefix(name + " ") } + items)
    }

    private func example() throws -> MediaReference {
        try MediaReference(
            url: "https://blossom.example/0a", type: MediaType("text/plain"), filename: "a b.txt",
            hash: #require(Bytes32(hex: Self.hash)), nonce: Array(0...11))
    }

    @Test func writesItemsInPeerOrder() throws {
        var reference = try self.example()
        #expect(reference.tag.values == Self.required)
        reference.dimensions = .init(width: 640, height: 480)
        reference.blurhash = "LEHV6nWB2yk8"
        reference.thumbhash = "3OcRJYB4d3h"
        #expect(
            reference.tag.values == Self.required[..<4]
                + ["dim 640x480", "blurhash LEHV6nWB2yk8", "thumbhash 3OcRJYB4d3h"] + Self.required[4...])
        #expect(try MediaReference(reference.tag) == reference)
    }

    @Test func acceptsAnyOrderAndUnknownItems() throws {
        var items = Array(Self.required.dropFirst().reversed())
        items += ["alt a picture", "fallback", "", " ", "size 12"]
        #expect(try MediaReference(Tag(values: ["imeta"] + items)) == self.example())
    }

    @Test func normalizesTypesAndHashes() throws {
        let tag = self.tag(
            without: "x", adding: "m \u{2003}TEXT/Plain ; charset=utf-8", "x \(Self.hash.uppercased())")
        let reference = try MediaReference(tag)
        #expect(try reference == self.example())
        #expect(reference.tag.values == Self.required)
    }

    @Test func lastRepeatedItemWins() throws {
        #expect(try MediaReference(self.tag(adding: "filename z.txt")).filename == "z.txt")
        expectError(.badTag, "item filename") {
            _ = try MediaReference(self.tag(adding: "filename a/b", "filename z.txt"))
        }
    }

    @Test func ignoresMalformedDimensions() throws {
        for text in ["640", "640x", "x480", "640x480x1", "640X480", "-1x2", "4294967296x1", "640 x480", ""] {
            #expect(try MediaReference(self.tag(adding: "dim \(text)")) == self.example(), "\(text)")
        }
        let largest = try MediaReference(self.tag(adding: "dim 4294967295x0"))
        #expect(largest.dimensions == .init(width: .max, height: 0))
    }

    @Test func itemsAreSplitBetweenScalars() throws {
        // A combining accent right after the space belongs to the value.
        let reference = try MediaReference(self.tag(without: "filename", adding: "filename \u{301}a"))
        #expect(Array(reference.filename.utf8) == Array("\u{301}a".utf8))
    }

    @Test func refusesMissingItems() {
        for name in ["url", "m", "filename", "x", "n"] {
            expectError(.badTag, "lacks") { _ = try MediaReference(self.tag(without: name, adding: "alt text")) }
            expectError(.badTag, "at least 7") { _ = try MediaReference(self.tag(without: name)) }
        }
        expectError(.badTag, "version") { _ = try MediaReference(self.tag(without: "v", adding: "alt text")) }
        expectError(.badTag, "at least 7") { _ = try MediaReference(Tag(values: ["imeta"])) }
        expectError(.badTag, "a tag imeta") { _ = try MediaReference(Tag(values: [])) }
        expectError(.badTag, "a tag imeta") { _ = try MediaReference(Tag(values: ["e"] + Self.required.dropFirst())) }
    }

    @Test(arguments: [
        ("v mip04-v1", "version"), ("v mip04-v2 ", "version"), ("v ", "version"), ("url ", "URL"),
        ("m image/heic", "item m"), ("m image/svg+xml", "item m"), ("m text", "item m"), ("m ", "item m"),
        ("m text/plain\u{301}", "item m"), ("filename ", "item filename"), ("filename a/b", "item filename"),
        ("filename a\\b", "item filename"), ("filename a\nb", "item filename"), ("filename a\u{85}b", "item filename"),
        ("x 00", "item x"), ("x \(hash)00", "item x"), ("x g\(hash.dropFirst())", "item x"), ("x ", "item x"),
        ("n 000102030405060708090a", "item n"), ("n 000102030405060708090a0b0c", "item n"),
        ("n 000102030405060708090a0g", "item n"), ("n ", "item n"),
    ])
    func malformedItemsAreRefused(item: String, reason: String) {
        expectError(.badTag, reason) { _ = try MediaReference(self.tag(adding: item)) }
    }

    @Test func limitsFilenamesTo210Bytes() throws {
        let longest = String(repeating: "é", count: 105)
        #expect(try MediaReference(self.tag(adding: "filename \(longest)")).filename == longest)
        expectError(.badTag, "item filename") { _ = try MediaReference(self.tag(adding: "filename \(longest)a")) }
    }

    @Test func validatesOwnReferences() throws {
        let valid = try self.example()
        func make(url: String = "u", filename: String = "a", nonce: Int = 12) throws {
            _ = try MediaReference(
                url: url, type: valid.type, filename: filename, hash: valid.hash,
                nonce: [UInt8](repeating: 0, count: nonce))
        }
        try make()
        expectError(.badMedia, "URL") { try make(url: "") }
        expectError(.badMedia, "1 to 210") { try make(filename: "") }
        expectError(.badMedia, "separators") { try make(filename: "../a") }
        expectError(.badMedia, "nonce") { try make(nonce: 24) }
    }

    /// 2,000 damaged tags: each is read to a reference that survives a round trip, or refused as a bad tag.
    @Test func damagedTagsAreReadOrRefused() throws {
        var rng = SplitMix64(seed: 0x0494)
        let whole = Self.required + ["dim 640x480", "blurhash LEHV6nWB2yk8", "thumbhash 3OcRJYB4d3h"]
        var read = 0
        var refused = 0
        for _ in 0..<2_000 {
            let tag = Tag(values: self.damage(whole, &rng))
            do {
                let reference = try MediaReference(tag)
                #expect(try MediaReference(reference.tag) == reference)
                #expect((1...210).contains(reference.filename.utf8.count) && reference.nonce.count == 12)
                read += 1
            } catch {
                #expect(error.code == .badTag, "\(error)")
                refused += 1
            }
        }
        #expect(read > 300 && refused > 300, "\(read) read, \(refused) refused")
    }

    private func damage(_ values: [String], _ rng: inout SplitMix64) -> [String] {
        var values = values
        for _ in 0..<Int.random(in: 1...2, using: &rng) {
            let item = Int.random(in: 0..<values.count, using: &rng)
            switch Int.random(in: 0..<6, using: &rng) {
            case 0: values.swapAt(item, Int.random(in: 0..<values.count, using: &rng))
            case 1: values.append(values[item])
            case 2 where values.count > 1: values.remove(at: item)
            default: values[item] = self.damage(values[item], &rng)
            }
        }
        return values
    }

    private func damage(_ text: String, _ rng: inout SplitMix64) -> String {
        var bytes = Array(text.utf8)
        let position = Int.random(in: 0...bytes.count, using: &rng)
        switch Int.random(in: 0..<4, using: &rng) {
        case 0: bytes.removeSubrange(position...)
        case 1: bytes.insert(UInt8.random(in: 0...255, using: &rng), at: position)
        case 2 where position < bytes.count: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &rng)
        default: bytes += bytes[position...]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
