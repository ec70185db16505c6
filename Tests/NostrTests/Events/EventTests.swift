import Testing

@testable import Nostr

@Test func canonicalSerializationEscapesOnlySevenCharacters() throws {
    let key = try PublicKey(hex: String(repeating: "0a", count: 32))
    let short: [UInt32: String] = [
        0x08: "\\b", 0x09: "\\t", 0x0a: "\\n", 0x0c: "\\f", 0x0d: "\\r", 0x22: "\\\"", 0x5c: "\\\\",
    ]
    for value in UInt32(0)...0x2fff {
        guard let scalar = Unicode.Scalar(value) else { continue }
        let text = "a" + String(Character(scalar)) + "b"
        let event = UnsignedEvent(pubkey: key, createdAt: 7, kind: 9, tags: [Tag("t", text)], content: text)
        let escaped = "a" + (short[value] ?? String(Character(scalar))) + "b"
        let expected = "[0,\"\(key.hex)\",7,9,[[\"t\",\"\(escaped)\"]],\"\(escaped)\"]"
        #expect(event.canonicalSerialization == Array(expected.utf8), "U+\(String(value, radix: 16))")
    }
}

@Test func canonicalSerializationFindsEscapesAtEveryOffset() throws {
    let key = Samples.key(1).publicKey
    for length in 0...40 {
        for offset in 0..<max(length, 1) {
            var content = [Character](repeating: "é", count: length)
            if length > 0 { content[offset] = "\n" }
            let event = UnsignedEvent(pubkey: key, createdAt: 0, kind: 1, content: String(content))
            let inner = String(content).split(separator: "\n", omittingEmptySubsequences: false).joined(
                separator: "\\n")
            #expect(Samples.text(event.canonicalSerialization) == "[0,\"\(key)\",0,1,[],\"\(inner)\"]")
        }
    }
}

@Test func wireJSONEscapesControlCharactersPerRFC8259() throws {
    for value in UInt8(0)..<0x20 {
        let text = String(Character(Unicode.Scalar(value)))
        let event = Samples.event(tags: [], content: text)
        let json = event.json()
        #expect(!json.contains { $0 < 0x20 })
        let back = try Event(json: json)
        #expect(back.content == text)
        try back.verify()
    }
}

@Test func idMatchesNIP59Example() throws {
    let author = try PublicKey(hex: "611df01bfcf85c26ae65453b772d8f1dfd25c264621c0277e1fc1518686faef9")
    let event = UnsignedEvent(
        pubkey: author, createdAt: 1_691_518_405, kind: 1, content: "Are you going to the party tonight?")
    #expect(event.id.hex == "9dd003c6d3b73b74a85a9ab099469ce251653a7af76f523671ab828acd2a0ef9")
}

@Test func acceptsRumorIDOfEscapedControlCharacters() throws {
    let key = Samples.key(1).publicKey
    let event = UnsignedEvent(pubkey: key, createdAt: 5, kind: 9, content: "a\u{1}\n\u{1b}b")
    let escaped = EventID(value: .sha256(Array("[0,\"\(key)\",5,9,[],\"a\\u0001\\n\\u001bb\"]".utf8)))
    #expect(event.id != escaped)
    #expect(event.hasID(event.id))
    #expect(event.hasID(escaped))
    #expect(!event.hasID(Samples.event().id))
}

@Test func verifyDetectsChangedEvents() throws {
    let event = Samples.event()
    try event.verify()
    #expect(code { try event.with(content: event.content + " ").verify() } == .idMismatch)
    #expect(code { try event.with(createdAt: event.createdAt + 1).verify() } == .idMismatch)
    #expect(code { try event.with(tags: []).verify() } == .idMismatch)
    var signature = event.signature.bytes
    for position in [0, 31, 32, 63] {
        signature[position] ^= 1
        #expect(code { try event.with(signature: try Signature(bytes: signature)).verify() } == .badSignature)
        signature[position] ^= 1
    }
    let other = Samples.event(by: Samples.key(2))
    #expect(code { try event.with(signature: other.signature).verify() } == .badSignature)
}

@Test func refusesAuthorOffTheCurve() throws {
    let author = try PublicKey(hex: String(repeating: "f", count: 64))
    let unsigned = UnsignedEvent(pubkey: author, createdAt: 0, kind: 1, content: "")
    let event = Samples.event().with(unsigned: unsigned, id: unsigned.id)
    #expect(code { try event.verify() } == .badSignature)
}

@Test func verifiesRecordedForeignEvents() throws {
    let events = try #require(try Vectors.json("mdk-events.json").array)
    #expect(events.count == 34)
    for value in events {
        let event = try Event(json: value.json())
        try event.verify()
        #expect(try Event(json: event.json()) == event)
    }
}

@Test func everyKindHasOneClass() {
    for raw in UInt16.min...UInt16.max {
        let kind = Kind(rawValue: raw)
        let classes = [kind.isReplaceable, kind.isEphemeral, kind.isAddressable, kind.isRegular]
        #expect(classes.filter { $0 }.count == 1)
    }
    for kind in [Kind.metadata, 3, 10_000, .relayList, .inboxRelays, 19_999] { #expect(kind.isReplaceable) }
    for kind in [Kind(rawValue: 20_000), .typing, .clientAuthentication, 29_999] { #expect(kind.isEphemeral) }
    for kind in [Kind(rawValue: 30_000), .addressableKeyPackage, 39_999] { #expect(kind.isAddressable) }
    for kind in [Kind.textNote, .keyPackage, .groupEvent, .giftWrap, 9_999, 40_000] { #expect(kind.isRegular) }
}

@Test func missingTagElementsAreNil() {
    #expect(Tag().name == "")
    #expect(Tag().value == nil)
    #expect(Tag("p").value == nil)
    let event = Samples.event(tags: [Tag("p", "1"), Tag("e", "2"), Tag("p", "3")])
    #expect(event.firstTag("p")?.value == "1")
    #expect(event.tags(named: "p").compactMap { $0.value } == ["1", "3"])
    #expect(event.firstTag("x") == nil)
}

@Test func addressesRoundTripAsTagValues() throws {
    let key = Samples.key(1)
    let address = EventAddress(kind: 30443, pubkey: key.publicKey, identifier: "a:b:c")
    #expect(EventAddress(address.description) == address)
    #expect(Samples.event(kind: 30443, tags: [Tag("d", "x")]).address?.identifier == "x")
    #expect(Samples.event(kind: 10002, tags: [Tag("d", "x")]).address?.identifier == "")
    #expect(Samples.event(kind: 1).address == nil)
    for wrong in ["", "1", "1:2", "65536:\(key.publicKey):", "-1:\(key.publicKey):", "1:zz:", "+1:\(key.publicKey):"] {
        #expect(EventAddress(wrong) == nil)
    }
}

extension Event {
    func with(
        createdAt: UnixTime? = nil, tags: [Tag]? = nil, content: String? = nil, signature: Signature? = nil
    ) -> Event {
        Event(
            id: id, pubkey: pubkey, createdAt: createdAt ?? self.createdAt, kind: kind, tags: tags ?? self.tags,
            content: content ?? self.content, signature: signature ?? self.signature)
    }

    func with(unsigned: UnsignedEvent, id: EventID) -> Event {
        Event(
            id: id, pubkey: unsigned.pubkey, createdAt: unsigned.createdAt, kind: unsigned.kind, tags: unsigned.tags,
            content: unsigned.content, signature: signature)
    }
}
