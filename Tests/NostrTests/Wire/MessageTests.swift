import Nostr
import Testing

private let event = Samples.event()

@Test func clientMessagesRoundTrip() throws {
    let filters = [Filter(kinds: [1]), Filter(tags: ["e": ["x"]])]
    let messages: [(ClientMessage, String)] = [
        (.event(event), "[\"EVENT\",\(Samples.text(event.json()))]"),
        (.authenticate(event), "[\"AUTH\",\(Samples.text(event.json()))]"),
        (.close(subscription: "a\"b"), "[\"CLOSE\",\"a\\\"b\"]"),
        (.request(subscription: "s", filters: filters), "[\"REQ\",\"s\",{\"kinds\":[1]},{\"#e\":[\"x\"]}]"),
        (.count(subscription: "s", filters: [Filter()]), "[\"COUNT\",\"s\",{}]"),
    ]
    for (message, json) in messages {
        #expect(Samples.text(message.json()) == json)
        #expect(try ClientMessage(json: Array(json.utf8)) == message)
    }
}

@Test func relayMessagesRoundTrip() throws {
    let messages: [(RelayMessage, String)] = [
        (.event(subscription: "s", event), "[\"EVENT\",\"s\",\(Samples.text(event.json()))]"),
        (.ok(event.id, accepted: true, message: ""), "[\"OK\",\"\(event.id)\",true,\"\"]"),
        (.ok(nil, accepted: false, message: "invalid: x"), "[\"OK\",\"\",false,\"invalid: x\"]"),
        (.endOfStoredEvents(subscription: "s"), "[\"EOSE\",\"s\"]"),
        (.closed(subscription: "s", message: "error: é"), "[\"CLOSED\",\"s\",\"error: é\"]"),
        (.notice("hello\n"), "[\"NOTICE\",\"hello\\n\"]"), (.authentication(challenge: "c"), "[\"AUTH\",\"c\"]"),
        (.count(subscription: "s", 238), "[\"COUNT\",\"s\",{\"count\":238}]"),
    ]
    for (message, json) in messages {
        #expect(Samples.text(message.json()) == json)
        #expect(try RelayMessage(json: Array(json.utf8)) == message)
    }
}

@Test func toleratesMissingTextsAndExtraElements() throws {
    #expect(try RelayMessage(json: Array("[\"OK\",\"\",false]".utf8)) == .ok(nil, accepted: false, message: ""))
    #expect(try RelayMessage(json: Array("[\"CLOSED\",\"s\"]".utf8)) == .closed(subscription: "s", message: ""))
    #expect(try RelayMessage(json: Array("[\"EOSE\",\"s\",{\"x\":[1]}]".utf8)) == .endOfStoredEvents(subscription: "s"))
    let count = "[\"COUNT\",\"s\",{\"approximate\":true,\"count\":5,\"hll\":\"00\"}]"
    #expect(try RelayMessage(json: Array(count.utf8)) == .count(subscription: "s", 5))
}

@Test func clientMessageErrorsCarryCodes() {
    let cases: [(String, NostrError.Code)] = [
        ("[]", .missingField), ("{}", .unexpectedType), ("[1]", .unexpectedType), ("[\"NEG-OPEN\"]", .unknownMessage),
        ("[\"event\"]", .unknownMessage), ("[\"EVENT\"]", .missingField), ("[\"EVENT\",1]", .unexpectedType),
        ("[\"REQ\"]", .missingField), ("[\"REQ\",\"s\"]", .missingField), ("[\"REQ\",\"\",{}]", .invalidSubscription),
        ("[\"REQ\",\"\(String(repeating: "é", count: 65))\",{}]", .invalidSubscription),
        ("[\"REQ\",1,{}]", .unexpectedType),
        ("[\"REQ\",\"s\",[]]", .unexpectedType), ("[\"CLOSE\"]", .missingField), ("[\"CLOSE\",\"s\"", .truncatedJSON),
        ("[\"CLOSE\",\"s\"]]", .malformedJSON), ("[\"AUTH\",\"c\"]", .unexpectedType), ("", .truncatedJSON),
        ("x", .malformedJSON),
    ]
    for (json, expected) in cases {
        #expect(code { _ = try ClientMessage(json: Array(json.utf8)) } == expected, "\(json)")
    }
    #expect(
        code { _ = try ClientMessage(json: Array("[\"CLOSE\",\"\(String(repeating: "é", count: 64))\"]".utf8)) } == nil)
}

@Test func relayMessageErrorsCarryCodes() {
    let cases: [(String, NostrError.Code)] = [
        ("[]", .missingField), ("[\"HELLO\"]", .unknownMessage), ("[\"OK\",\"zz\",true,\"\"]", .invalidHex),
        ("[\"OK\",\"\(event.id)\"]", .missingField), ("[\"OK\",\"\(event.id)\",1,\"\"]", .unexpectedType),
        ("[\"OK\",\"\(event.id)\",null,\"\"]", .unexpectedType), ("[\"EVENT\",\"s\"]", .missingField),
        ("[\"COUNT\",\"s\",{}]", .missingField), ("[\"COUNT\",\"s\",{\"count\":-1}]", .numberOutOfRange),
        ("[\"COUNT\",\"s\",5]", .unexpectedType), ("[\"NOTICE\"]", .missingField),
        ("[\"NOTICE\",null]", .unexpectedType),
        ("null", .unexpectedType),
    ]
    for (json, expected) in cases {
        #expect(code { _ = try RelayMessage(json: Array(json.utf8)) } == expected, "\(json)")
    }
}

@Test func readsMessagePrefixes() {
    #expect(MessagePrefix(of: "auth-required: log in") == .authenticationRequired)
    #expect(MessagePrefix(of: "rate-limited:") == .rateLimited)
    #expect(MessagePrefix(of: "pow: difficulty 25>=24") == .proofOfWork)
    for none in ["", "hello", ": x", "two words: x", "É: x"] { #expect(MessagePrefix(of: none) == nil) }
    #expect(MessagePrefix.duplicate.message("have it") == "duplicate: have it")
}
