import Nostr
import Testing

private let event = Samples.event(kind: 445, tags: [Tag("h", "group"), Tag("p"), Tag("t", "a", "b")], createdAt: 100)

@Test func filterRequiresAllConditions() throws {
    let other = Samples.key(5).publicKey
    #expect(Filter().matches(event))
    #expect(
        Filter(ids: [event.id], authors: [other, event.pubkey], kinds: [1, 445], tags: ["h": ["x", "group"]]).matches(
            event))
    #expect(!Filter(ids: [try EventID(hex: String(repeating: "0", count: 64))]).matches(event))
    #expect(!Filter(authors: [other]).matches(event))
    #expect(!Filter(kinds: [1]).matches(event))
    #expect(!Filter(kinds: [445], tags: ["h": ["x"]]).matches(event))
    #expect(!Filter(tags: ["h": ["group"], "e": ["x"]]).matches(event))
}

@Test func filterTimesAreInclusive() {
    #expect(Filter(since: 100, until: 100, limit: 0).matches(event))
    #expect(!Filter(since: 101).matches(event))
    #expect(!Filter(until: 99).matches(event))
}

@Test func emptyListsMatchNothing() {
    #expect(!Filter(ids: []).matches(event))
    #expect(!Filter(authors: []).matches(event))
    #expect(!Filter(kinds: []).matches(event))
    #expect(!Filter(tags: ["h": []]).matches(event))
}

@Test func filterMatchesOnlyTagValues() {
    #expect(Filter(tags: ["t": ["a"]]).matches(event))
    #expect(!Filter(tags: ["t": ["b"]]).matches(event))
    #expect(!Filter(tags: ["p": [""]]).matches(event))
}

@Test func filterJSONRoundTrips() throws {
    let filter = Filter(
        ids: [event.id], authors: [event.pubkey], kinds: [0, 65535], since: -1, until: 5, limit: 10,
        tags: ["p": ["x\n"], "E": []])
    let expected =
        "{\"ids\":[\"\(event.id)\"],\"authors\":[\"\(event.pubkey)\"],\"kinds\":[0,65535],\"#E\":[],\"#p\":[\"x\\n\"],"
        + "\"since\":-1,\"until\":5,\"limit\":10}"
    #expect(Samples.text(filter.json()) == expected)
    #expect(try Filter(json: filter.json()) == filter)
    #expect(try Filter(json: Array("{}".utf8)) == Filter())
    #expect(try Filter(json: Array("{\"search\":{\"a\":[1]},\"#ab\":1,\"#\":2,\"#1\":3}".utf8)) == Filter())
}

@Test func filterJSONRefusesInvalidValues() {
    let cases: [(String, NostrError.Code)] = [
        ("{\"ids\":[\"00\"]}", .invalidHex), ("{\"authors\":[\"\(String(repeating: "A", count: 64))\"]}", .invalidHex),
        ("{\"kinds\":[65536]}", .numberOutOfRange), ("{\"kinds\":[-1]}", .numberOutOfRange),
        ("{\"kinds\":[1.0]}", .unexpectedType), ("{\"kinds\":1}", .unexpectedType),
        ("{\"limit\":-1}", .numberOutOfRange),
        ("{\"limit\":99999999999999999999}", .numberOutOfRange), ("{\"since\":\"1\"}", .unexpectedType),
        ("{\"#p\":[1]}", .unexpectedType), ("{\"#p\":null}", .unexpectedType), ("[]", .unexpectedType),
        ("", .truncatedJSON),
        ("{} x", .malformedJSON),
    ]
    for (json, expected) in cases { #expect(code { _ = try Filter(json: Array(json.utf8)) } == expected, "\(json)") }
}
