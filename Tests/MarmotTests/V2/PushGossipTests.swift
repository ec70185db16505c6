import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct PushGossipTests {
    private static let group = GroupID([UInt8](repeating: 0x57, count: 16))
    private static let now: Int64 = 1_800_000_000_000
    private let owner: KeyPair
    private let server: KeyPair
    private let token: PushToken

    init() throws {
        self.owner = try KeyPair(secretKey: [UInt8](repeating: 1, count: 32))
        self.server = try KeyPair(secretKey: [UInt8](repeating: 2, count: 32))
        self.token = try PushToken(bytes: (0..<PushToken.count).map { UInt8(truncatingIfNeeded: $0) })
    }

    private func record(
        removal: Bool = false, relay: String = "wss://relay.example", time: Int64 = PushGossipTests.now
    ) throws -> PushRecord {
        try PushRecord(
            member: self.owner.publicKey, leaf: LeafIndex(rawValue: 7), platform: .fcm,
            fingerprint: "sha256:000102030405060708090a0b", server: self.server.publicKey, relayHint: relay,
            token: removal ? nil : self.token, ownerTime: time)
    }

    private func signed(_ record: PushRecord, by key: KeyPair? = nil) -> SignedPushRecord {
        var rng = SplitMix64(seed: 1)
        let id = record.template(in: Self.group).id
        return SignedPushRecord(record, signature: (key ?? self.owner).sign(id, using: &rng))
    }

    // MARK: Tokens

    /// Computed with another implementation of all parts (python3-cryptography).
    @Test func generationsUseDifferentKeys() throws {
        let device = try DeviceToken(.apns, Secret([UInt8](repeating: 0xCD, count: 32)))
        var rng = SplitMix64(seed: 2)
        let token = try PushToken(device, for: self.server.publicKey, derivation: .components, using: &rng)
        #expect(token.bytes.count == 1084)
        #expect(try token.open(by: self.server, derivation: .components) == device)
        expectError(.badPushToken, "not for this server") { _ = try token.open(by: self.server) }
        let (first, second) = (
            try PushToken.key(self.owner, self.server.publicKey, .components),
            try PushToken.key(self.server, self.owner.publicKey, .components)
        )
        #expect(first == second)
        #expect(Hex.encode(first.copyBytes()) == "32898ae3aa27df6668eb99eabc195d904391fd8af4595ee1322bd2ef730b3432")
    }

    @Test func fingerprintsHideTokens() throws {
        let device = try DeviceToken(.fcm, Secret(Array("token".utf8)))
        #expect(PushRecord.fingerprint(of: device) == "sha256:dd5fdadfe74c5e725433c19b")
    }

    // MARK: Records

    @Test func templateHasTheTagsOfMDK() throws {
        let template = try self.record().template(in: Self.group)
        #expect(template.kind == 451 && template.createdAt == 0 && template.pubkey == self.owner.publicKey)
        #expect(
            template.tags.map(\.values) == [
                ["d", "marmot-push-token-record-v1"], ["group_id", String(repeating: "57", count: 16)],
                ["member_id", self.owner.publicKey.hex], ["leaf_index", "7"], ["platform", "fcm"],
                ["server_pubkey", self.server.publicKey.hex],
                ["token_fingerprint", "sha256:000102030405060708090a0b"], ["owner_ts", "1800000000000"],
                ["relay_hint", "wss://relay.example"], ["encrypted_token_encoding", "base64"],
            ])
        #expect(template.content == self.token.base64)
        let removal = try self.record(removal: true, relay: " ").template(in: Self.group)
        #expect(removal.tags[0].value == "marmot-push-token-removal-v1" && removal.content.isEmpty)
        #expect(removal.tags.count == 9 && removal.tags[8].values == ["relay_hint", ""])
    }

    @Test func ownersSignForOneGroup() throws {
        let record = self.signed(try self.record())
        try record.verify(in: Self.group, now: Self.now)
        expectError(.badPushToken, "not signed") { try record.verify(in: GroupID([1]), now: Self.now) }
        let forged = self.signed(try self.record(), by: self.server)
        expectError(.badPushToken, "not signed") { try forged.verify(in: Self.group, now: Self.now) }
    }

    @Test func recordsAreAtMostAnHourAhead() throws {
        let record = self.signed(try self.record())
        try record.verify(in: Self.group, now: Self.now - 3_600_000)
        expectError(.badPushToken, "ahead") { try record.verify(in: Self.group, now: Self.now - 3_600_001) }
        expectError(.badPushToken, "ahead") { try record.verify(in: Self.group, now: .min) }
        let negative = self.signed(try self.record(time: -1))
        expectError(.badPushToken, "negative") { try negative.verify(in: Self.group, now: .max) }
    }

    @Test(arguments: ["", "sha256:", "sha256:000102030405060708090a0", "md5:000102030405060708090a0b00", "SHA256:x"])
    func refusesMalformedFingerprints(text: String) {
        expectError(.badPushToken, "fingerprint") {
            _ = try PushRecord(
                member: self.owner.publicKey, leaf: LeafIndex(rawValue: 0), platform: .apns, fingerprint: text,
                server: self.server.publicKey, token: nil, ownerTime: 0)
        }
    }

    // MARK: Events

    @Test func eventsRoundTrip() throws {
        let (whole, bare) = (self.signed(try self.record()), self.signed(try self.record(relay: "")))
        let removed = self.signed(try self.record(removal: true, relay: ""))
        let gossips: [(PushGossip, Kind)] = [
            (.update([whole]), 447), (.list([whole, bare]), 448), (.removal([removed]), 449),
        ]
        for (gossip, kind) in gossips {
            let event = try gossip.event(by: self.owner.publicKey, now: 5)
            #expect(event.kind == kind && event.tags.map(\.values) == [["v", "marmot-push-v1"]])
            #expect(try PushGossip(event) == gossip)
        }
        let content = try PushGossip.update([whole]).event(by: self.owner.publicKey, now: 5).content
        #expect(content.hasPrefix(#"{"v":"marmot-push-v1","tokens":[{"member_id_hex":""#))
        let withoutHint = try PushGossip.list([bare]).event(by: self.owner.publicKey, now: 5).content
        #expect(content.contains("relay_hint") && !withoutHint.contains("relay_hint"))
    }

    @Test func leavesOutMalformedRecords() throws {
        let whole = self.signed(try self.record())
        var event = try PushGossip.update([whole, whole]).event(by: self.owner.publicKey, now: 5)
        for (from, to) in [
            (#""leaf_index":7"#, #""leaf_index":-1"#), (#""platform":"fcm""#, #""platform":"FCM""#),
            (#""owner_ts""#, #""owner_time""#), (#""owner_sig":""#, #""owner_sig":"x"#),
        ] {
            var changed = event
            let range = try #require(changed.content.firstRange(of: from))
            changed.content.replaceSubrange(range, with: to)
            #expect(try PushGossip(changed).records == [whole])
        }
        event.content = #"{"v":"marmot-push-v1"}"#
        #expect(try PushGossip(event).records.isEmpty)
    }

    @Test func refusesOtherVersionsAndLongLists() throws {
        func event(_ content: String, kind: Kind = 447) -> UnsignedEvent {
            UnsignedEvent(pubkey: self.owner.publicKey, createdAt: 5, kind: kind, content: content)
        }
        for content in ["", "[]", "{}", #"{"v":"mip05-v1","tokens":[]}"#, #"{"v":1}"#] {
            expectError(.badContent) { _ = try PushGossip(event(content)) }
        }
        expectError(.wrongKind) { _ = try PushGossip(event("{}", kind: 446)) }
        let many = Array(repeating: "0", count: 33).joined(separator: ",")
        let long = event(#"{"v":"marmot-push-v1","tokens":["# + many + "]}")
        expectError(.badContent, "found 33") { _ = try PushGossip(long) }
        expectError(.badPushToken, "found 0") {
            _ = try PushGossip.update([]).event(by: self.owner.publicKey, now: 5)
        }
        let removed = self.signed(try self.record(removal: true))
        expectError(.badPushToken) { _ = try PushGossip.update([removed]).event(by: self.owner.publicKey, now: 5) }
    }
}
