import LiveTesting
import Nostr
import Testing

private let relay = try? RelayURL("wss://relay.example.com")

@Test func authenticationProvesKeyOwnership() throws {
    let relay = try #require(relay)
    var generator = SplitMix64(seed: 1)
    let key = Samples.key(1)
    let event = NIP42.authenticationEvent(challenge: "abc", relay: relay, by: key, now: 1000, using: &generator)
    #expect(event.tags == [Tag("relay", "wss://relay.example.com"), Tag("challenge", "abc")])
    #expect(event.kind == .clientAuthentication && event.content == "")
    #expect(try NIP42.verify(event, challenge: "abc", relay: relay, now: 1600) == key.publicKey)
    let behindProxy = try RelayURL("ws://RELAY.example.com:8080/x")
    #expect(try NIP42.verify(event, challenge: "abc", relay: behindProxy, now: 400) == key.publicKey)
}

@Test func refusesMismatchedAuthentication() throws {
    let relay = try #require(relay)
    var generator = SplitMix64(seed: 1)
    let key = Samples.key(1)
    let event = NIP42.authenticationEvent(challenge: "abc", relay: relay, by: key, now: 1000, using: &generator)
    func refusal(_ event: Event, challenge: String = "abc", relay other: RelayURL? = nil, now: UnixTime = 1000)
        -> NostrError.Code?
    {
        code { try NIP42.verify(event, challenge: challenge, relay: other ?? relay, now: now) }
    }
    #expect(refusal(event) == nil)
    #expect(refusal(event, challenge: "abd") == .authenticationRejected)
    #expect(refusal(event, challenge: "") == .authenticationRejected)
    #expect(refusal(event, relay: try RelayURL("wss://other.example.com")) == .authenticationRejected)
    #expect(refusal(event, now: 1601) == .authenticationRejected)
    #expect(refusal(event, now: 399) == .authenticationRejected)
    #expect(refusal(event, now: .distantPast) == .authenticationRejected)
    #expect(refusal(Samples.event()) == .unexpectedKind)
    #expect(refusal(event.with(signature: Samples.event().signature)) == .badSignature)
    #expect(
        refusal(Samples.event(kind: 22242, tags: [Tag("challenge", "abc")], createdAt: 1000)) == .authenticationRejected
    )
}

@Test func expirationMustBeNumeric() {
    func expiration(_ value: String...) -> UnixTime? {
        Samples.event(tags: [Tag(values: ["expiration"] + value)]).expiration
    }
    #expect(expiration("1600000000") == 1_600_000_000)
    for wrong in ["", "-1", "+1", "1.5", " 1", "1e3", "99999999999999999999", "é"] { #expect(expiration(wrong) == nil) }
    #expect(expiration() == nil)
    let event = Samples.event(tags: [.expiration(at: 10)])
    #expect(!event.isExpired(at: 9) && event.isExpired(at: 10))
    #expect(!Samples.event(tags: []).isExpired(at: .distantFuture))
    #expect(event.unsigned.expiration == 10)
}

@Test func deletionsCoverOnlyOwnEvents() throws {
    let author = Samples.key(1)
    let note = Samples.event(by: author)
    let package = Samples.event(kind: 30443, tags: [Tag("d", "x")], createdAt: 50, by: author)
    let deletion = Deletion(
        eventIDs: [note.id], addresses: [try #require(package.address)], kinds: [1, 30443], reason: "by accident")
    var generator = SplitMix64(seed: 1)
    let event = deletion.unsigned(by: author.publicKey, now: 60).signed(by: author, using: &generator)
    #expect(event.tags.map { $0.name } == ["e", "a", "k", "k"])
    #expect(try Deletion(event) == deletion)
    #expect(deletion.covers(note, author: author.publicKey, requestedAt: 60))
    #expect(deletion.covers(package, author: author.publicKey, requestedAt: 60))
    #expect(!deletion.covers(package, author: author.publicKey, requestedAt: 49))
    #expect(!deletion.covers(note, author: Samples.key(2).publicKey, requestedAt: 60))
    #expect(!Deletion(eventIDs: [event.id]).covers(event, author: author.publicKey, requestedAt: 60))
    #expect(code { _ = try Deletion(note) } == .unexpectedKind)
    let odd = Samples.event(kind: 5, tags: [Tag("e"), Tag("e", "zz"), Tag("a", "1:2"), Tag("k", "99999")], content: "")
    #expect(try Deletion(odd) == Deletion())
}

@Test func relayListsKeepMarkers() throws {
    let event = Samples.event(
        kind: .relayList,
        tags: [
            Tag("r", "wss://a"), Tag("r", "wss://b", "write"), Tag("r", "wss://c", "read"), Tag("r", "bad"), Tag("r"),
        ])
    let list = try RelayList(event)
    #expect(list.read.map { $0.string } == ["wss://a", "wss://c"])
    #expect(list.write.map { $0.string } == ["wss://a", "wss://b"])
    #expect(list.unsigned(by: event.pubkey, now: 0).tags == Array(event.tags.prefix(3)))
    #expect(code { _ = try RelayList(Samples.event()) } == .unexpectedKind)
    let inbox = Samples.event(
        kind: .inboxRelays, tags: [Tag("relay", "wss://a"), Tag("relay", "wss://a/"), Tag("relay", "x")])
    #expect(inbox.relayTags.map { $0.string } == ["wss://a"])
}

@Test func protectedEventsCarryTheirTag() {
    #expect(Samples.event(tags: [.protected]).isProtected)
    #expect(!Samples.event().isProtected)
}

@Test func relayInformationRoundTrips() throws {
    var information = RelayInformation(
        name: "test \"relay\"", pubkey: Samples.key(1).publicKey, supportedNIPs: [1, 11, 42],
        software: "https://example.com",
        version: "1")
    var limitation = RelayInformation.Limitation()
    limitation.maxMessageLength = 65536
    limitation.authenticationRequired = true
    information.limitation = limitation
    let expected =
        "{\"name\":\"test \\\"relay\\\"\",\"pubkey\":\"\(Samples.key(1).publicKey)\",\"supported_nips\":[1,11,42],"
        + "\"software\":\"https://example.com\",\"version\":\"1\",\"limitation\":{\"max_message_length\":65536,\"auth_required\":true}}"
    #expect(Samples.text(information.json()) == expected)
    #expect(try RelayInformation(json: information.json()) == information)
}

@Test func relayInformationIgnoresInvalidMembers() throws {
    let text =
        "{\"name\":5,\"pubkey\":\"\",\"supported_nips\":[1,\"x\",2],\"limitation\":{\"max_limit\":\"5\",\"default_limit\":7},\"fees\":{}}"
    let information = try RelayInformation(json: Array(text.utf8))
    #expect(information.name == nil && information.pubkey == nil)
    #expect(information.supportedNIPs == [1, 2])
    #expect(information.limitation?.maxLimit == nil && information.limitation?.defaultLimit == 7)
    #expect(code { _ = try RelayInformation(json: Array("[]".utf8)) } == .unexpectedType)
    #expect(code { _ = try RelayInformation(json: Array("<html>".utf8)) } == .malformedJSON)
}
