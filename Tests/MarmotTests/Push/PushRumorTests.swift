import MLS
import Nostr
import Testing

@testable import Marmot

/// Kinds 447, 448 and 449.
struct PushRumorTests {
    private static let author = Result { try KeyPair(secretKey: [UInt8](repeating: 1, count: 32)).publicKey }
    private static let request = Result { try EventID(hex: String(repeating: "ab", count: 32)) }
    private static let server = String(repeating: "4f", count: 32)

    static func token(_ byte: UInt8) throws -> PushToken {
        try PushToken(bytes: [UInt8](repeating: byte, count: 1084))
    }

    static func route(_ byte: UInt8) throws -> PushRoute {
        PushRoute(try self.token(byte), server: try PublicKey(hex: self.server), relay: try RelayURL("wss://r.example"))
    }

    private func values(_ byte: UInt8, _ more: String...) throws -> [String] {
        ["token", try Self.token(byte).base64, Self.server, "wss://r.example"] + more
    }

    private func rumor(_ kind: Kind, _ tags: [[String]], content: String = "") throws -> UnsignedEvent {
        UnsignedEvent(
            pubkey: try Self.author.get(), createdAt: 1_800_000_000, kind: kind,
            tags: tags.map { Tag(values: $0) }, content: content)
    }

    private func expect(
        _ code: MarmotError.Code, _ text: String, _ kind: Kind, _ tags: [[String]], content: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expectError(code, text, sourceLocation: sourceLocation) {
            _ = try PushRumor(try self.rumor(kind, tags, content: content))
        }
    }

    @Test func roundTripsTheFormOfMDK() throws {
        let request = try Self.request.get()
        let list: [LeafIndex: PushRoute] = [
            LeafIndex(rawValue: 10): try Self.route(3), LeafIndex(rawValue: 2): try Self.route(4),
            LeafIndex(rawValue: .max): try Self.route(3),
        ]
        let cases: [(PushRumor, Kind, [[String]])] = [
            (.request([try Self.route(1), try Self.route(2)]), 447, [try values(1), try values(2)]),
            (
                .list(list, answering: request), 448,
                [
                    try values(4, "2"), try values(3, "10"), try values(3, "4294967295"),
                    ["e", String(repeating: "ab", count: 32)],
                ]
            ),
            (.removal, 449, []),
        ]
        for (value, kind, tags) in cases {
            let rumor = try value.rumor(by: try Self.author.get(), now: 1_800_000_000)
            #expect(rumor == (try self.rumor(kind, tags)))
            #expect(try PushRumor(rumor) == value)
        }
    }

    @Test func listTagsComeInAnyOrder() throws {
        let id = try Self.request.get()
        let rumor = try self.rumor(448, [["e", id.hex, "wss://hint.example"], try self.values(1, "007")])
        #expect(try PushRumor(rumor) == .list([LeafIndex(rawValue: 7): try Self.route(1)], answering: id))
    }

    @Test func parsesRequestsStrictly() throws {
        self.expect(.wrongKind, "expected kind 447", 446, [])
        self.expect(.wrongKind, "expected kind 447", 9, [try self.values(1)])
        self.expect(.badContent, "must be empty", 447, [try self.values(1)], content: " ")
        self.expect(.badTag, "at least one", 447, [])
        self.expect(
            .badTag, "does not allow tag \"e\"", 447, [try self.values(1), ["e", String(repeating: "ab", count: 32)]])
        self.expect(.badTag, "does not allow tag", 447, [try self.values(1), ["client", "x"]])
        self.expect(.badTag, "does not allow tag \"\"", 447, [try self.values(1), []])
        self.expect(.badTag, "expected 4 strings, found 5", 447, [try self.values(1, "0")])
        self.expect(.badTag, "expected 4 strings, found 3", 447, [try self.values(1).dropLast()])
        self.expect(.badTag, "expected 4 strings, found 1", 447, [["token"]])
    }

    @Test func parsesTokenTagsStrictly() throws {
        func change(_ position: Int, _ value: String) throws -> [[String]] {
            var values = try self.values(1)
            values[position] = value
            return [values]
        }
        self.expect(.badPushToken, "found 0", 447, try change(1, ""))
        self.expect(.badPushToken, "found 280", 447, try change(1, Base64.encode([UInt8](repeating: 0, count: 280))))
        self.expect(.badPushToken, "Base64", 447, try change(1, Self.token(1).base64 + "\n"))
        self.expect(.badTag, "server", 447, try change(2, String(Self.server.dropLast())))
        self.expect(.badTag, "server", 447, try change(2, "npub1"))
        self.expect(.badTag, "relay", 447, try change(3, "https://r.example"))
        self.expect(.badTag, "relay", 447, try change(3, ""))
    }

    @Test func parsesListsStrictly() throws {
        let reference = ["e", String(repeating: "ab", count: 32)]
        self.expect(.badTag, "at least one", 448, [reference])
        self.expect(.badTag, "lacks the e tag", 448, [try self.values(1, "1")])
        self.expect(.badTag, "exactly one e", 448, [try self.values(1, "1"), reference, reference])
        for bad in [["e"], ["e", ""], ["e", "abcd"]] {
            self.expect(.badTag, "exactly one e", 448, [try self.values(1, "1"), bad])
        }
        self.expect(.badTag, "two tokens", 448, [try self.values(1, "1"), try self.values(2, "1"), reference])
        self.expect(.badTag, "two tokens", 448, [try self.values(1, "1"), try self.values(2, "01"), reference])
        self.expect(.badTag, "expected 5 strings, found 4", 448, [try self.values(1), reference])
        self.expect(.badTag, "expected 5 strings, found 6", 448, [try self.values(1, "1", ""), reference])
        for leaf in ["", "-1", "+1", " 1", "1.0", "0x1", "4294967296", "٣", String(repeating: "9", count: 400)] {
            self.expect(.badTag, "leaf", 448, [try self.values(1, leaf), reference])
        }
        self.expect(.badTag, "does not allow tag", 448, [try self.values(1, "1"), reference, ["p", Self.server]])
        self.expect(.badContent, "must be empty", 448, [try self.values(1, "1"), reference], content: "x")
    }

    @Test func parsesRemovalsStrictly() throws {
        self.expect(.badTag, "no tags", 449, [[]])
        self.expect(.badTag, "no tags", 449, [try self.values(1)])
        self.expect(.badContent, "must be empty", 449, [], content: "x")
    }

    @Test func refusesEmptyRumors() throws {
        let (author, id) = (try Self.author.get(), try Self.request.get())
        expectError(.badTag, "at least one") { _ = try PushRumor.request([]).rumor(by: author, now: 0) }
        expectError(.badTag, "at least one") { _ = try PushRumor.list([:], answering: id).rumor(by: author, now: 0) }
    }

    @Test func membersExchangeTokensInTheGroup() throws {
        var lab = try Lab(2)
        let server = KeyPair.generate(using: &lab.rng)
        let device = try DeviceToken(.apns, Secret(Array("device".utf8)))
        let route = PushRoute(
            try PushToken(device, for: server.publicKey, using: &lab.rng), server: server.publicKey,
            relay: try RelayURL(Lab.relays[0]))
        let request = try PushRumor.request([route]).rumor(by: lab.keys[0].publicKey, now: lab.now)
        let sent = try lab.groups[0].seal(request, now: lab.now, using: &lab.rng)
        let received = try #require(lab.deliver(sent, to: 1).message)
        #expect(try PushRumor(received.rumor) == .request([route]))
        let answer = PushRumor.list([lab.groups[0].mls.ownLeafIndex: route], answering: received.id)
        let rumor = try answer.rumor(by: lab.keys[1].publicKey, now: lab.now)
        let back = try lab.groups[1].seal(rumor, now: lab.now, using: &lab.rng)
        let reply = try #require(lab.deliver(back, to: 0).message)
        #expect(try PushRumor(reply.rumor) == answer)
        #expect(received.id == request.id)
    }
}
