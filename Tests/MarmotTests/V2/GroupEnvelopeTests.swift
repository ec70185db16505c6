import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct GroupEnvelopeTests {
    private static let id = String(repeating: "5c", count: 32)
    private let key = Secret([UInt8](repeating: 7, count: 32))

    private func seal(_ content: GroupEnvelope.Content) throws -> Event {
        var rng = SplitMix64(seed: 1)
        return try GroupEnvelope.seal(
            [1, 2, 3], as: content, key: self.key, nostrGroupID: try V2Vectors.bytes32(Self.id), using: &rng)
    }

    private func with(_ tags: [[String]], kind: Kind = 445, content: String? = nil) throws -> Event {
        let event = try self.seal(.handshake(now: 5))
        return Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: kind,
            tags: tags.map { Tag(values: $0) }, content: content ?? event.content, signature: event.signature)
    }

    @Test func opensRecordedCommits() throws {
        let event = try V2Vectors.event(V2Vectors.commitEvent)
        try event.verify()
        let envelope = try GroupEnvelope(event)
        #expect(envelope.nostrGroupID.hex == "36260c9aa6c90dd52c8241f09b838cd8d43cf42485f55bca596cce03582f8eab")
        let message = try #require(envelope.open(with: Secret(try V2Vectors.bytes(V2Vectors.commitKey))))
        #expect(Hex.encode(SHA256Derivation.digest(message)) == V2Vectors.commitDigest)
        #expect(try MLSMessage(message).wireFormat == .publicMessage)
        #expect(envelope.open(with: self.key) == nil && envelope.open(with: Secret([1])) == nil)
    }

    @Test func messagesRepeatTheInnerTime() throws {
        let message = try self.seal(.message(createdAt: 1234, expiration: 5678))
        try message.verify()
        #expect(message.createdAt == 1234)
        #expect(message.tags.map(\.values) == [["h", Self.id], ["expiration", "5678"]])
        #expect(try GroupEnvelope(message).expiration == 5678)
        #expect(try GroupEnvelope(message).open(with: self.key) == [1, 2, 3])
        let handshake = try self.seal(.handshake(now: 99))
        #expect(handshake.createdAt == 99 && handshake.tags.map(\.values) == [["h", Self.id]])
    }

    @Test func acceptsNumbersThatMDKAccepts() throws {
        let numbers: [(String, UInt64)] = [("0", 0), ("18446744073709551615", .max), ("007", 7), ("+7", 7)]
        for (text, time) in numbers {
            #expect(try GroupEnvelope(self.with([["h", Self.id], ["expiration", text]])).expiration == time)
        }
        #expect(try GroupEnvelope(self.with([["expiration", "1"], ["h", Self.id]])).expiration == 1)
    }

    /// Tags that follow a correct `h`.
    @Test(arguments: [
        ["h", id], ["h", id, "x"], ["h"], ["expiration", "1", "x"], ["expiration"], ["encoding", "base64"],
        ["client", "x"], [], [""], ["H", id], ["expiration", "18446744073709551616"], ["expiration", "-1"],
        ["expiration", "-0"], ["expiration", "++1"], ["expiration", ""], ["expiration", "+"], ["expiration", "1.0"],
        ["expiration", " 1"],
    ])
    func refusesOtherTags(tag: [String]) throws {
        expectError(.badTag) { _ = try GroupEnvelope(self.with([["h", Self.id], tag])) }
    }

    @Test(arguments: [
        ["h", id.uppercased()], ["h", "5c"], ["h", ""], ["h", id, ""], ["expiration", "1"], ["H", id],
    ])
    func refusesOtherGroupIDs(tag: [String]) throws {
        expectError(.badTag) { _ = try GroupEnvelope(self.with([tag])) }
        expectError(.badTag) { _ = try GroupEnvelope(self.with([])) }
        let twice = [["h", Self.id], ["expiration", "1"], ["expiration", "1"]]
        expectError(.badTag, "twice") { _ = try GroupEnvelope(self.with(twice)) }
    }

    @Test func refusesOtherKindsAndContents() throws {
        let tags = [["h", Self.id]]
        expectError(.wrongKind) { _ = try GroupEnvelope(self.with(tags, kind: 444)) }
        for content in ["", "!", Base64.encode([UInt8](repeating: 0, count: 27)), "AAA"] {
            expectError(.badContent) { _ = try GroupEnvelope(self.with(tags, content: content)) }
        }
        let shortest = try GroupEnvelope(
            self.with(tags, content: Base64.encode([UInt8](repeating: 0, count: 28))))
        #expect(shortest.open(with: self.key) == nil)
    }
}
