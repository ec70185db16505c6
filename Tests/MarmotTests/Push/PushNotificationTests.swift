import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// Kind 446 and its delivery to the server.
struct PushNotificationTests {
    private static let now: UnixTime = 1_800_000_000

    private func tokens(_ count: Int) throws -> [PushToken] {
        try (0..<count).map { try PushToken(bytes: [UInt8($0)] + [UInt8](repeating: 9, count: 1083)) }
    }

    private func rumor(
        _ content: [UInt8], _ tags: [[String]] = [["v", "mip05-v1"], ["encoding", "base64"]], kind: Kind = 446
    ) throws -> UnsignedEvent {
        let author = try KeyPair(secretKey: [UInt8](repeating: 1, count: 32)).publicKey
        return UnsignedEvent(
            pubkey: author, createdAt: Self.now, kind: kind, tags: tags.map { Tag(values: $0) },
            content: Base64.encode(content))
    }

    @Test(arguments: [1, 2, 25]) func roundTripsTheFormOfMDK(_ count: Int) throws {
        let tokens = try self.tokens(count)
        let rumor = try self.rumor(tokens.flatMap(\.bytes))
        #expect(try PushNotifications.rumor(tokens, by: rumor.pubkey, now: Self.now) == rumor)
        #expect(try PushNotifications.read(rumor) == tokens)
    }

    @Test func parsesRequestsStrictly() throws {
        let bytes = try self.tokens(1)[0].bytes
        func expect(_ code: MarmotError.Code, _ text: String, _ rumor: UnsignedEvent) {
            expectError(code, text) { _ = try PushNotifications.read(rumor) }
        }
        let (version, encoding) = (["v", "mip05-v1"], ["encoding", "base64"])
        #expect(try PushNotifications.read(try self.rumor(bytes, [encoding, version])).count == 1)
        let bad: [[[String]]] = [
            [], [version], [encoding], [version, version], [encoding, encoding], [version, encoding, version],
            [version, encoding, encoding], [version, encoding, ["p", "x"]], [version, encoding, []],
            [["v", "mip05-v2"], encoding], [["v"], encoding], [["v", "mip05-v1", ""], encoding],
            [version, ["encoding", "hex"]], [version, ["encoding", "Base64"]], [version, ["encoding", "base64", ""]],
        ]
        for tags in bad { expect(.badTag, "exactly the tags", try self.rumor(bytes, tags)) }
        expect(.wrongKind, "446", try self.rumor(bytes, kind: 447))
        expect(.badPushToken, "found 0", try self.rumor([]))
        expect(.badContent, "complete tokens", try self.rumor(bytes + [0]))
        expect(.badContent, "complete tokens", try self.rumor(Array(bytes.dropLast())))
        expect(.badContent, "complete tokens", try self.rumor([UInt8](repeating: 0, count: 280)))
        var unreadable = try self.rumor(bytes)
        unreadable.content += "="
        expect(.badContent, "Base64", unreadable)
        expect(.badPushToken, "twice", try self.rumor(bytes + bytes))
        expect(.badPushToken, "found 26", try self.rumor(try self.tokens(26).flatMap(\.bytes)))
    }

    @Test func refusesToSendInvalidRequests() throws {
        let author = try self.rumor([]).pubkey
        let tokens = try self.tokens(26)
        for bad in [[], tokens, [tokens[0], tokens[0]]] {
            expectError(.badPushToken) { _ = try PushNotifications.rumor(bad, by: author, now: 0) }
        }
    }

    @Test func serverOpensRequestOfMember() throws {
        var rng = SplitMix64(seed: 7)
        let servers = (0..<2).map { _ in KeyPair.generate(using: &rng) }.sorted { $0.publicKey < $1.publicKey }
        let relays = try Lab.relays.map { try RelayURL($0) }
        var routes: [PushRoute] = []
        for number in 0..<60 {
            let device = try DeviceToken(.fcm, Secret([UInt8(number)]))
            let server = servers[number < 57 ? 0 : 1].publicKey
            routes.append(
                PushRoute(
                    try PushToken(device, for: server, using: &rng), server: server, relay: relays[number / 5 % 2]))
        }
        let batches = PushNotifications.batches(routes + [routes[3], routes[59]])
        #expect(batches.map(\.server) == servers.map(\.publicKey))
        #expect(batches.map(\.relays) == [relays, [relays[1]]])
        #expect(batches.map(\.tokens.count) == [57, 3])
        var authors: Set<PublicKey> = []
        var devices: [[UInt8]] = []
        for (server, batch) in zip(servers, batches) {
            for event in try PushNotifications.events(batch, now: Self.now, using: &rng) {
                #expect(event.kind == .giftWrap && event.tags == [.user(server.publicKey)])
                #expect(event.json().count < 65_536)
                let opened = try GiftWrap.unwrap(event, by: server)
                #expect(opened.rumor.createdAt == Self.now && opened.statedID == opened.rumor.id)
                #expect(authors.insert(event.pubkey).inserted && authors.insert(opened.sender).inserted)
                devices += try PushNotifications.read(opened.rumor).map { try $0.open(by: server).secret.copyBytes() }
            }
        }
        // 57 tokens are three full events.
        #expect(authors.count == 2 * (3 + 1))
        #expect(devices == (0..<60).map { [UInt8($0)] })
    }

    @Test func invalidServerKeyFailsAlone() throws {
        var rng = SplitMix64(seed: 8)
        let offCurve = try PublicKey(bytes: [UInt8](repeating: 0xff, count: 32))
        let route = PushRoute(try self.tokens(1)[0], server: offCurve, relay: try RelayURL(Lab.relays[0]))
        let batches = PushNotifications.batches([try PushRumorTests.route(1), route])
        #expect(batches.count == 2 && PushNotifications.batches([]).isEmpty)
        expectError(.badPushToken, "wrapped") {
            _ = try PushNotifications.events(try #require(batches.last), now: Self.now, using: &rng)
        }
    }
}
