import Nostr
import Testing

private let zeros = String(repeating: "0", count: 64)

/// An event's JSON with one member replaced, removed (nil) or added.
private func json(_ changes: [String: String?] = [:]) -> [UInt8] {
    var members: [(String, String)] = [
        ("id", "\"\(zeros)\""), ("pubkey", "\"\(zeros)\""), ("created_at", "1"), ("kind", "1"), ("tags", "[]"),
        ("content", "\"\""), ("sig", "\"\(zeros + zeros)\""),
    ]
    members = members.compactMap { name, value in
        guard let change = changes[name] else { return (name, value) }
        return change.map { (name, $0) }
    }
    return Array(("{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}").utf8)
}

@Test func eventJSONIsCompactAndOrdered() throws {
    let event = Samples.event(tags: [Tag("e", "x"), Tag()], content: "a\"b/é\u{1}")
    let expected =
        "{\"id\":\"\(event.id)\",\"pubkey\":\"\(event.pubkey)\",\"created_at\":1700000000,\"kind\":1,"
        + "\"tags\":[[\"e\",\"x\"],[]],\"content\":\"a\\\"b/é\\u0001\",\"sig\":\"\(event.signature.hex)\"}"
    #expect(Samples.text(event.json()) == expected)
    #expect(try Event(json: event.json()) == event)
}

@Test func eventJSONToleratesOrderBlanksAndExtras() throws {
    let event = Samples.event()
    let spelled = event.id.hex.utf8.map { "\\u00" + Hex.encode([$0]) }.joined()
    let text =
        " {\"extra\":{\"deep\":[1,{}]},\n\"sig\" : \"\(event.signature.hex)\",\"kind\":1,\"content\":\(JSONValue.string(event.content).jsonText),"
        + "\"tags\":\(JSONValue.array(event.tags.map { .array($0.values.map(JSONValue.string)) }).jsonText),\t"
        + "\"created_at\":1700000000 ,\"pubkey\":\"\(event.pubkey)\",\"id\":\"\(spelled)\"}\r\n"
    let read = try Event(json: Array(text.utf8))
    #expect(read == event)
    try read.verify()
}

@Test func eventJSONRequiresEveryMember() throws {
    _ = try Event(json: json())
    for name in ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"] {
        #expect(code { _ = try Event(json: json([name: nil])) } == .missingField, "\(name)")
    }
}

@Test func eventJSONRefusesInvalidValues() {
    let cases: [(String, String, NostrError.Code)] = [
        ("id", "\"\"", .invalidHex), ("id", "\"\(zeros)0\"", .invalidHex), ("id", "1", .unexpectedType),
        ("id", "\"\(String(repeating: "A", count: 64))\"", .invalidHex), ("pubkey", "null", .unexpectedType),
        ("sig", "\"\(zeros)\"", .invalidHex), ("created_at", "\"1\"", .unexpectedType),
        ("created_at", "1.5", .unexpectedType),
        ("created_at", "1e3", .unexpectedType), ("created_at", "-1", .numberOutOfRange),
        ("created_at", "99999999999999999999", .numberOutOfRange),
        ("created_at", "9223372036854775808", .numberOutOfRange),
        ("created_at", String(repeating: "1", count: 5000), .numberOutOfRange), ("created_at", "", .malformedJSON),
        ("kind", "65536", .numberOutOfRange), ("kind", "-1", .numberOutOfRange), ("kind", "1.0", .unexpectedType),
        ("kind", "01", .malformedJSON), ("tags", "{}", .unexpectedType), ("tags", "[1]", .unexpectedType),
        ("tags", "[[1]]", .unexpectedType), ("tags", "[[null]]", .unexpectedType),
        ("tags", "[[\"a\",]]", .malformedJSON),
        ("tags", "[[\"a\"] [\"b\"]]", .malformedJSON), ("content", "null", .unexpectedType),
        ("content", "\"\\ud800\"", .malformedJSON),
        ("content", "\"\u{1}\"", .malformedJSON), ("content", "\"a\" \"b\"", .malformedJSON),
    ]
    for (name, value, expected) in cases {
        #expect(code { _ = try Event(json: json([name: value])) } == expected, "\(name) \(value.prefix(40))")
    }
    #expect(code { _ = try Event(json: json() + [0x7d]) } == .malformedJSON)
    #expect(code { _ = try Event(json: [UInt8]()) } == .truncatedJSON)
    #expect(code { _ = try Event(json: Array("[]".utf8)) } == .unexpectedType)
}

@Test func firstRepeatedEventMemberWins() throws {
    var text = Samples.text(json(["content": "\"first\""]))
    text.removeLast()
    let event = try Event(json: Array((text + ",\"content\":\"second\",\"kind\":[]}").utf8))
    #expect(event.content == "first")
    #expect(event.kind == 1)
}

@Test func rumorJSONNeedsNoIDOrSignature() throws {
    let event = Samples.event().unsigned
    let json = event.rumorJSON()
    #expect(Samples.text(json).hasPrefix("{\"id\":\"\(event.id)\",\"pubkey\":\"\(event.pubkey)\",\"created_at\":"))
    #expect(!Samples.text(json).contains("\"sig\""))
    let (read, statedID) = try UnsignedEvent.parseRumor(json)
    #expect(read == event)
    #expect(statedID == event.id)
    let bare = "{\"pubkey\":\"\(event.pubkey)\",\"created_at\":1,\"kind\":9,\"tags\":[],\"content\":\"\",\"sig\":\"\"}"
    let (other, noID) = try UnsignedEvent.parseRumor(Array(bare.utf8))
    #expect(noID == nil)
    #expect(other.kind == .chatMessage)
}
