import Testing

@testable import Nostr

private let rumor = UnsignedEvent(
    pubkey: Samples.key(1).publicKey, createdAt: 5, kind: 9, tags: [Tag("p", "x")], content: "a\u{1}b")

@Test func strictRumorsRoundTrip() throws {
    for id in [rumor.id, rumor.escapedID] {
        let parsed = try UnsignedEvent.parseStrictRumor(rumor.rumorJSON(stating: id))
        #expect(parsed.event == rumor && parsed.statedID == id)
    }
    #expect(rumor.id != rumor.escapedID && rumor.hasID(rumor.escapedID))
    #expect(rumor.rumorJSON() == rumor.rumorJSON(stating: rumor.id))
    let plain = UnsignedEvent(pubkey: rumor.pubkey, createdAt: 5, kind: 9, content: "a\n\t\"é")
    #expect(plain.escapedID == plain.id)
}

@Test func strictRumorsHaveExactlySixMembers() throws {
    let whole = Samples.text(rumor.rumorJSON())
    for member in ["\"sig\":\"\"", "\"x\":1", "\"kind\":9", "\"\":null"] {
        let json = Array((String(whole.dropLast()) + "," + member + "}").utf8)
        #expect(code { _ = try UnsignedEvent.parseStrictRumor(json) } == .malformedJSON, "\(member)")
        // The lenient reader uses the first of repeated members, and skips unknown ones.
        #expect(try UnsignedEvent.parseRumor(json).event == rumor)
    }
    for name in ["id", "pubkey", "created_at", "kind", "tags", "content"] {
        let other = Array(whole.replacing("\"\(name)\":", with: "\"_\(name)\":").utf8)
        #expect(code { _ = try UnsignedEvent.parseStrictRumor(other) } == .malformedJSON, "\(name)")
    }
    #expect(code { _ = try UnsignedEvent.parseStrictRumor(Array("{}".utf8)) } == .missingField)
    #expect(code { _ = try UnsignedEvent.parseStrictRumor(Array("{\"kind\":65536}".utf8)) } == .numberOutOfRange)
    #expect(code { _ = try UnsignedEvent.parseStrictRumor(Array("{\"created_at\":-1}".utf8)) } == .numberOutOfRange)
}
