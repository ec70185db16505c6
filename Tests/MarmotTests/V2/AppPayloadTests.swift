import LiveTesting
import Nostr
import Testing

@testable import Marmot

struct AppPayloadTests {
    private func read(_ json: String) throws -> AppPayload {
        let author = try UnsignedEvent.parseRumor(Array(json.utf8)).event.pubkey
        return try AppPayload(Array(json.utf8), from: author)
    }

    @Test func readsAndWritesRecordedMessages() throws {
        let payload = try self.read(V2Vectors.innerEvent)
        #expect(payload.event.content == "before any commit" && payload.event.kind == 9)
        #expect(payload.id.hex == "3697780335c1e30f8767f9323f7973da22ef6aa0903ccb9f20078cfeffa955a8")
        #expect(String(decoding: payload.encoded, as: UTF8.self) == V2Vectors.innerEvent)
        #expect(AppPayload(payload.event) == payload)
    }

    /// MDK escapes control characters before hashing.
    @Test func idsMatchMDKForControlCharacters() throws {
        let event = UnsignedEvent(
            pubkey: try PublicKey(hex: "4631637f31d9bcb674bd6a418ac2c50c429ecd925a7a998c0b1ac2f6f46df705"),
            createdAt: 1_791_157_536, kind: 9,
            content: "wn hello ünïcødé 🐿 \"q\" \\ tab\there\nnewline \u{1}ctl \u{7f} del")
        let payload = AppPayload(event)
        #expect(payload.id.hex == "696796dcc6f074e63e9441a803b7293e50bcbe40640194bf42b9b00075559f19")
        #expect(try AppPayload(payload.encoded, from: event.pubkey) == payload)
        #expect(event.id != payload.id)
        // The hash by the letter of NIP-01 identifies the same content.
        #expect(try AppPayload(event.rumorJSON(), from: event.pubkey).id == event.id)
    }

    private func json(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    private func members() throws -> [(String, String)] {
        var rng = SplitMix64(seed: 1)
        let author = KeyPair.generate(using: &rng).publicKey
        let event = UnsignedEvent(pubkey: author, createdAt: 5, kind: 9, tags: [Tag("p", "x")], content: "hi")
        return [
            ("id", "\"\(event.id.hex)\""), ("pubkey", "\"\(author.hex)\""), ("created_at", "5"), ("kind", "9"),
            ("tags", "[[\"p\",\"x\"]]"), ("content", "\"hi\""),
        ]
    }

    @Test func acceptsAnyOrderAndWhiteSpace() throws {
        let members = try self.members()
        let plain = try self.read(self.json(members))
        #expect(try self.read(self.json(members.reversed())) == plain)
        #expect(try self.read(" " + self.json(members).replacingCommas + "\n") == plain)
    }

    @Test(arguments: ["id", "pubkey", "created_at", "kind", "tags", "content"])
    func everyMemberOccursOnce(name: String) throws {
        let members = try self.members()
        let author = try self.read(self.json(members)).event.pubkey
        let missing = self.json(members.filter { $0.0 != name })
        let doubled = self.json(members + members.filter { $0.0 == name })
        for json in [missing, doubled] {
            expectError(.badRumor) { _ = try AppPayload(Array(json.utf8), from: author) }
        }
    }

    @Test func refusesOtherMembersAndTypes() throws {
        let members = try self.members()
        let author = try self.read(self.json(members)).event.pubkey
        func refused(_ json: String, _ code: MarmotError.Code = .badRumor) {
            expectError(code) { _ = try AppPayload(Array(json.utf8), from: author) }
        }
        func with(_ name: String, _ value: String) -> String {
            self.json(members.map { $0.0 == name ? (name, value) : $0 })
        }
        refused(self.json(members + [("sig", "\"\"")]))
        refused(self.json(members + [("x", "null")]))
        refused(self.json(members) + "x")
        refused("[]")
        refused("")
        for (name, value) in [
            ("created_at", "\"5\""), ("created_at", "5.0"), ("created_at", "-1"),
            ("created_at", "99999999999999999999"),
            ("kind", "65536"), ("kind", "9.0"), ("tags", "[\"p\"]"), ("tags", "[[1]]"), ("tags", "null"),
            ("content", "null"), ("id", "\"00\""), ("pubkey", "\"\(author.hex.uppercased())\""),
        ] {
            refused(with(name, value))
        }
        let zeros = String(repeating: "0", count: 64)
        refused(with("id", "\"\(zeros)\""))
        refused(with("content", "\"other\""))
        refused(with("created_at", "6"))
        expectError(.tooLarge) {
            _ = try AppPayload([UInt8](repeating: 0x20, count: AppPayload.maximumBytes + 1), from: author)
        }
    }

    @Test func theAuthorIsTheSender() throws {
        var rng = SplitMix64(seed: 2)
        let other = KeyPair.generate(using: &rng).publicKey
        expectError(.identityMismatch) {
            _ = try AppPayload(Array(V2Vectors.innerEvent.utf8), from: other)
        }
    }
}

extension String {
    fileprivate var replacingCommas: String { self.split(separator: ",").joined(separator: " ,\t") }
}
