import MLS
import Nostr
import Testing

@testable import Marmot

/// The states of groups, most of them as MDK 0.9.14 or 0.11.0 wrote them.
struct GroupComponentTests {
    private static let groupID = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    private static let relayA = "157773733a2f2f72656c61792d612e6578616d706c65"
    private static let relayB = "157773733a2f2f72656c61792d622e6578616d706c65"

    private func hex(_ text: String) -> String { Hex.encode(Array(text.utf8)) }
    private func key(_ byte: UInt8) throws -> PublicKey { try PublicKey(bytes: [UInt8](repeating: byte, count: 32)) }

    // MARK: Profile

    @Test func profileKeepsItsBytes() throws {
        let recorded = try GroupProfileState.checked(
            "145732342d4520656e67696e652d64656661756c74134d444b2076302e31312e302066697874757265")
        #expect(recorded.name == "W24-E engine-default" && recorded.description == "MDK v0.11.0 fixture")
        let accents = try GroupProfileState.checked("05436166c3a90d72c3a973756dc3a920f09f9880")
        #expect(accents.name == "Café")
        #expect(try GroupProfileState(name: "Cafe\u{301}", description: accents.description) != accents)
        #expect(try GroupProfileState.checked("0000") == GroupProfileState(name: ""))
        try GroupProfileState.refusesOtherLengths("05436166c3a90d72c3a973756dc3a920f09f9880")
    }

    @Test func profileRefusesLongAndInvalidTexts() throws {
        let longest = try GroupProfileState(
            name: String(repeating: "n", count: 256), description: String(repeating: "d", count: 4096))
        #expect(try GroupProfileState(data: longest.encoded) == longest)
        expectError(.badComponent, "name") { _ = try GroupProfileState(name: String(repeating: "é", count: 129)) }
        expectError(.badComponent, "description") {
            _ = try GroupProfileState(name: "", description: String(repeating: "d", count: 4097))
        }
        GroupProfileState.refuses("4101" + String(repeating: "61", count: 257) + "00", "name")
        GroupProfileState.refuses("00" + "5001" + String(repeating: "61", count: 4097), "description")
        GroupProfileState.refuses("01ff00", "UTF-8")
        GroupProfileState.refuses("40016100", "shortest form")
    }

    // MARK: Admins

    @Test func adminsAreSortedAndUnique() throws {
        let (low, high) = (String(repeating: "11", count: 32), String(repeating: "22", count: 32))
        let policy = try AdminPolicy.checked("4040" + low + high)
        #expect(policy.admins == [try self.key(0x11), try self.key(0x22)])
        #expect(try AdminPolicy([self.key(0x22), self.key(0x11), self.key(0x22)]) == policy)
        try AdminPolicy.refusesOtherLengths("20" + low)
        AdminPolicy.refuses("00", "at least one")
        AdminPolicy.refuses("4040" + high + low, "ascending")
        AdminPolicy.refuses("4040" + low + low, "ascending")
        AdminPolicy.refuses("1f" + low.dropLast(2))
        AdminPolicy.refuses("4020" + low, "shortest form")
        expectError(.badComponent, "at least one") { _ = try AdminPolicy([PublicKey]()) }
    }

    @Test func theLastAdminCannotBeRemoved() throws {
        let policy = try AdminPolicy([self.key(1)])
        let both = try AdminPolicy([self.key(1), self.key(0)])
        #expect(both.admins == [try self.key(0), try self.key(1)])
        #expect(try both.removing(self.key(0)) == policy)
        expectError(.noAdminLeft) { _ = try policy.removing(self.key(1)) }
        expectError(.notFound) { _ = try policy.removing(self.key(2)) }
    }

    // MARK: Routing

    @Test func routingMatchesThePublishedFixtures() throws {
        let two = try NostrRouting.checked(Self.groupID + "2c" + Self.relayA + Self.relayB)
        #expect(two.nostrGroupID.hex == Self.groupID)
        #expect(two.relays == ["wss://relay-a.example", "wss://relay-b.example"])
        #expect(two.relayURLs.map(\.string) == two.relays)
        let one = try NostrRouting.checked(Self.groupID + "16157773733a2f2f72656c61792d632e6578616d706c65")
        #expect(one.relays == ["wss://relay-c.example"])
        NostrRouting.refuses(Self.groupID + "2c" + Self.relayA + Self.relayA, "ascending")
        NostrRouting.refuses(Self.groupID + "2c" + Self.relayB + Self.relayA, "ascending")
        try NostrRouting.refusesOtherLengths(Self.groupID + "16" + Self.relayA)
        NostrRouting.refuses(Self.groupID + "00", "number of relays")
    }

    @Test func routingComparesRelaysByBytes() throws {
        let id = try V2Vectors.bytes32(Self.groupID)
        let routing = try NostrRouting(
            nostrGroupID: id, relays: ["wss://a.example/", "wss://a.example", "wss://A.example", "wss://a.example"])
        #expect(routing.relays == ["wss://A.example", "wss://a.example", "wss://a.example/"])
        #expect(try NostrRouting(data: routing.encoded) == routing)
        #expect(routing.relayURLs.count == 1)
        let (bare, slash) = (
            try NostrRouting(nostrGroupID: id, relays: ["wss://a.example"]),
            try NostrRouting(nostrGroupID: id, relays: ["wss://a.example/"])
        )
        #expect(bare != slash)
    }

    @Test(arguments: [
        "https://a.example", "wss://", "wss://u@a.example", "wss://u:p@a.example", "wss://a.example/#f", "a.example",
        "", "wss://a.example:65536", "wss://[::1", "wss://a b",
    ])
    func routingRefusesOtherURLs(url: String) throws {
        let id = try V2Vectors.bytes32(Self.groupID)
        expectError(.badComponent) { _ = try NostrRouting(nostrGroupID: id, relays: [url]) }
    }

    @Test func routingAcceptsQueriesAndSixteenRelays() throws {
        let id = try V2Vectors.bytes32(Self.groupID)
        let relays = (0..<16).map { "ws://r\($0).example:8080/path?key=value" }
        let routing = try NostrRouting(nostrGroupID: id, relays: relays)
        #expect(try NostrRouting(data: routing.encoded) == routing)
        expectError(.badComponent, "found 17") {
            _ = try NostrRouting(nostrGroupID: id, relays: relays + ["ws://r16.example"])
        }
        let longest = "wss://a.example/" + String(repeating: "p", count: 496)
        #expect(try NostrRouting(nostrGroupID: id, relays: [longest]).relays == [longest])
        expectError(.badComponent, "found 513") {
            _ = try NostrRouting(nostrGroupID: id, relays: [longest + "p"])
        }
    }

    // MARK: Retention, lifecycle

    @Test func retentionNeverOverflows() throws {
        let hour = try MessageRetention.checked("0000000000000e10")
        #expect(hour.seconds == 3600 && hour.expiry(ofMessageAt: 1000) == 4600)
        #expect(hour.expiry(ofMessageAt: .distantFuture) == nil)
        #expect(MessageRetention(seconds: 0).expiry(ofMessageAt: 1000) == nil)
        #expect(try MessageRetention.checked("ffffffffffffffff").expiry(ofMessageAt: 0) == nil)
        #expect(try MessageRetention.checked("7fffffffffffffff").expiry(ofMessageAt: 0) == .distantFuture)
        try MessageRetention.refusesOtherLengths("0000000000000e10")
    }

    @Test func lifecycleHasTwoValues() throws {
        #expect(try GroupLifecycle.checked("00") == .active)
        #expect(try GroupLifecycle.checked("01") == .disbanded)
        for hex in ["", "02", "ff", "0000", "0100"] { GroupLifecycle.refuses(hex) }
    }

    // MARK: Streams

    /// With the verdicts of MDK 0.11.0.
    @Test(arguments: [
        ("010300001000000000000000", true), ("01070000ffef0000012c1000", true), ("010700000001000000010001", true),
        ("030300001000000000000000", true), ("040700001000000000000000", true), ("020700001000000000000000", true),
        ("01030000fff0000000000000", false), ("010300000000000000000000", false), ("0103000010000000012d0000", false),
        ("010300001000000000001001", false), ("000300001000000000000000", false), ("090f00001000000000000000", false),
        ("018100001000000000000000", false), ("010200001000000000000000", false), ("0303000000013c7cd087f673", false),
        ("0707ed18522a000000001001", false), ("01107116f2db0000012d1000", false),
    ])
    func streamsMatchMDK(hex: String, isValid: Bool) throws {
        if isValid { _ = try AgentTextStream.checked(hex) } else { AgentTextStream.refuses(hex) }
    }

    @Test func streamsNameTheirMarks() throws {
        let standard = try AgentTextStream()
        #expect(Hex.encode(standard.encoded) == "010300001000000000000000")
        #expect(standard.required.extensionTypes == [0xF2D1])
        #expect(AgentTextStream.Roles.all.extensionTypes == [0xF2D1, 0xF2D2, 0xF2D4])
        try AgentTextStream.refusesOtherLengths("010300001000000000000000")
    }

    // MARK: Pictures

    private static let hash = "206790149a4de19fd42d12a731f6028ff8602195d6d6860fe7618bcd47947bbcfc"
    private static let keys =
        "20" + String(repeating: "42", count: 32) + "0c" + String(repeating: "24", count: 12) + "20"
        + String(repeating: "77", count: 32)
    private static let png = "09696d6167652f706e67"

    /// With the verdicts of MDK 0.11.0.
    @Test func imageIsCompleteOrAbsent() throws {
        let whole = Self.hash + Self.keys + Self.png
        let state = try BlossomImage.checked(whole)
        let image = try #require(state.image)
        #expect(image.type.description == "image/png" && image.nonce == [UInt8](repeating: 0x24, count: 12))
        #expect("\(state)" == "BlossomImage(image/png)")
        #expect(try BlossomImage.checked("0000000000").image == nil)
        try BlossomImage.refusesOtherLengths(whole)
        BlossomImage.refuses(Self.hash + "00" + Self.keys.dropFirst(66) + Self.png)
        BlossomImage.refuses("00" + Self.keys + Self.png, "image_hash")
        BlossomImage.refuses(Self.hash + Self.keys + "00")
        BlossomImage.refuses("00000000" + Self.png)
        BlossomImage.refuses(Self.hash + Self.keys + "09696d6167652f504e47", "canonical")
        BlossomImage.refuses("40" + whole, "shortest form")
    }

    @Test func imageEncryptionMatchesMDK() throws {
        let picture = try V2Vectors.bytes("89504e470d0a1a0a67726f757020696d616765")
        let (blob, image) = try BlossomImage.Reference.encrypting(
            picture, type: try CanonicalMediaType("image/png"), key: Secret([UInt8](repeating: 0x42, count: 32)),
            nonce: [UInt8](repeating: 0x24, count: 12), uploadKey: Secret([UInt8](repeating: 0x77, count: 32)))
        #expect(Hex.encode(blob) == "6d57cb49e6d442a2e219e7fe943774f59eae2cd962fa3aa02b82c5a6c659afeb440153")
        #expect(Hex.encode(BlossomImage(image).encoded) == Self.hash + Self.keys + Self.png)
        #expect(try image.decrypt(blob) == picture)
        expectError(.badMedia, "hash") { _ = try image.decrypt(blob + [0]) }
        let other = try BlossomImage.Reference(
            hash: image.hash, key: image.key, nonce: image.nonce, uploadKey: image.uploadKey,
            type: try CanonicalMediaType("image/gif"))
        expectError(.badMedia, "does not decrypt") { _ = try other.decrypt(blob) }
        #expect(try image.uploadIdentity().secretBytes == [UInt8](repeating: 0x77, count: 32))
    }

    @Test func imageKeysAreFresh() throws {
        var rng = SystemRandomNumberGenerator()
        let type = try CanonicalMediaType("image/png")
        let (first, second) = (
            try BlossomImage.Reference.encrypting([1, 2, 3], type: type, using: &rng),
            try BlossomImage.Reference.encrypting([1, 2, 3], type: type, using: &rng)
        )
        #expect(first.image.key != second.image.key && first.image.uploadKey != second.image.uploadKey)
        #expect(first.image.nonce != second.image.nonce && first.blob != second.blob)
        #expect(try first.image.decrypt(first.blob) == [1, 2, 3])
    }

    /// With the verdicts of MDK 0.11.0.
    @Test func avatarIsNormalisedOrAbsent() throws {
        let url = "1968747470733a2f2f6578616d706c652e636f6d2f612e706e67"
        let thumbhash = "1c315163534851526e683439335634644968346558683168346b4a5549"
        let avatar = try AvatarURL.checked(url + "0735313278353132" + thumbhash)
        #expect(avatar.url == "https://example.com/a.png" && avatar.dimensions == Array("512x512".utf8))
        #expect(avatar.thumbhash == Array("1QcSHQRnh493V4dIh4eXh1h4kJUI".utf8))
        #expect(try AvatarURL.checked("000000") == .absent)
        try AvatarURL.refusesOtherLengths(url + "0000")
        AvatarURL.refuses("1968747470733a2f2f4578616d706c652e636f6d2f612e706e670000", "not normalised")
        AvatarURL.refuses("18687474703a2f2f6578616d706c652e636f6d2f612e706e670000", "https")
        AvatarURL.refuses("00073531327835313200", "without a URL")
        AvatarURL.refuses(url + "4101" + String(repeating: "00", count: 257) + "00", "dim")
        #expect(try AvatarURL(url: "HTTPS://Example.COM:443/a.png", thumbhash: []).url == "https://example.com/a.png")
        expectError(.badComponent, "url in bytes") {
            _ = try AvatarURL(url: "https://a.example/" + String(repeating: "p", count: 2031))
        }
        expectError(.badComponent, "url in bytes") { _ = try AvatarURL(url: "") }
    }

    // MARK: Files

    private static let format = "12656e637279707465642d6d656469612d7632"
    private static let kind = "0a626c6f73736f6d2d7631"

    /// An endpoint with its header, or a list of them.
    private func vector(_ hex: String) -> String { Hex.encode([UInt8(hex.utf8.count / 2)]) + hex }

    private func policy(kinds: [String], endpoints: [(kind: String, url: String)]) -> String {
        let kinds = kinds.map { self.vector(self.hex($0)) }.joined()
        let endpoints = endpoints.map { self.vector(self.hex($0.kind)) + self.vector(self.hex($0.url)) }.joined()
        return Self.format + self.vector(kinds) + (endpoints.utf8.count < 128 ? self.vector(endpoints) : "")
    }

    @Test func mediaPolicyMatchesWhiteNoise() throws {
        let policy = try EncryptedMediaPolicy.checked(
            Self.format + "0b" + Self.kind + "28" + Self.kind
                + "1c68747470733a2f2f626c6f73736f6d2e6578616d706c652e636f6d2f")
        #expect(policy.allowedKinds == ["blossom-v1"])
        #expect(policy.endpoints.map(\.baseURL) == ["https://blossom.example.com/"])
        #expect(
            try EncryptedMediaPolicy(
                blossomServers: ["HTTPS://blossom.example.com", "https://blossom.example.com:443/"]) == policy)
        try EncryptedMediaPolicy.refusesOtherLengths(Hex.encode(policy.encoded))
    }

    @Test func mediaPolicyAcceptsKindsInAnyOrder() throws {
        let blossom = (kind: "b-1", url: "https://b.example/")
        let other = (kind: "a", url: "http://a.example:8080/v1")
        let hex = self.policy(kinds: ["b-1", "a"], endpoints: [other, blossom])
        let policy = try EncryptedMediaPolicy.checked(hex)
        #expect(policy.allowedKinds == ["b-1", "a"] && policy.endpoints.map(\.kind) == ["a", "b-1"])
    }

    @Test(arguments: [
        "https://b.example", "https://B.example/", "https://b.example:443/", "https://b.example/?",
        "https://b.example/#", "https://u@b.example/", "ftp://b.example/", "wss://b.example/",
        "https://b.example/a/../b", "https://127.1/",
        " https://b.example/", "https:b.example/", "https://b.example/a b", "x", "https://xn--a.example/",
    ])
    func mediaPolicyRefusesOtherSpellings(url: String) {
        EncryptedMediaPolicy.refuses(self.policy(kinds: ["k"], endpoints: [("k", url)]))
    }

    @Test func mediaPolicyRefusesInconsistentLists() {
        let endpoint = (kind: "k", url: "https://b.example/")
        EncryptedMediaPolicy.refuses(self.policy(kinds: ["k", "k"], endpoints: [endpoint]), "twice")
        EncryptedMediaPolicy.refuses(self.policy(kinds: ["k"], endpoints: [endpoint, endpoint]), "twice")
        EncryptedMediaPolicy.refuses(self.policy(kinds: ["l"], endpoints: [endpoint]), "not allowed")
        EncryptedMediaPolicy.refuses(self.policy(kinds: [], endpoints: [endpoint]), "locator kinds")
        EncryptedMediaPolicy.refuses(self.policy(kinds: ["k"], endpoints: []), "endpoints")
        for kind in ["K", "k_", "k ", "ü"] {
            EncryptedMediaPolicy.refuses(
                self.policy(kinds: [kind], endpoints: [(kind, "https://b.example/")]), "lower-case")
        }
        let many = (0..<17).map { "k\($0)" }
        EncryptedMediaPolicy.refuses(self.policy(kinds: many, endpoints: [("k0", "https://b.example/")]))
        EncryptedMediaPolicy.refuses("12656e637279707465642d6d656469612d76310b" + Self.kind + "00", "format")
        expectError(.badComponent, "found 0") { _ = try EncryptedMediaPolicy(blossomServers: [String]()) }
    }
}
