import LiveTesting
import Testing

@testable import Nostr

private let sender = Samples.key(1)
private let recipient = Samples.key(2)
private let now: UnixTime = 1_750_000_000
private let rumor = UnsignedEvent(
    pubkey: sender.publicKey, createdAt: now, kind: .chatMessage, tags: [Tag("q", "é")], content: "hi \"you\"\n")

/// Encrypts and signs one layer, as an attacker with a key of their own can.
private func layer(
    _ kind: Kind, _ content: [UInt8], by author: KeyPair, to reader: PublicKey, pubkey: PublicKey? = nil,
    tagged: PublicKey? = nil
) throws -> Event {
    var generator = SplitMix64(seed: 5)
    let payload = try NIP44.encrypt(
        content, try NIP44.conversationKey(author, reader), nonce: [UInt8](repeating: 9, count: 32))
    return UnsignedEvent(
        pubkey: pubkey ?? author.publicKey, createdAt: now, kind: kind,
        tags: kind == .giftWrap ? [.user(tagged ?? reader)] : [], content: payload
    )
    .signed(by: author, using: &generator)
}

private func refusal(_ event: Event) -> NostrError.Code? { code { _ = try GiftWrap.unwrap(event, by: recipient) } }

@Test func giftWrapRoundTrips() throws {
    var generator = SplitMix64(seed: 3)
    let expiration = Tag.expiration(at: now + 5)
    let wrap = try GiftWrap.wrap(
        rumor, from: sender, to: recipient.publicKey, now: now, extraTags: [expiration], using: &generator)
    try wrap.verify()
    #expect(wrap.kind == .giftWrap)
    #expect(wrap.tags == [expiration, .user(recipient.publicKey)])
    #expect(wrap.pubkey != sender.publicKey)
    let opened = try GiftWrap.unwrap(wrap, by: recipient)
    #expect(opened.sender == sender.publicKey)
    #expect(opened.rumor == rumor)
    #expect(opened.statedID == rumor.id)
    #expect(code { _ = try GiftWrap.unwrap(wrap, by: Samples.key(3)) } == .unexpectedRecipient)
}

@Test func giftWrapLayersAreBackdatedIndependently() throws {
    var generator = SplitMix64(seed: 4)
    var wrapTimes: Set<UnixTime> = []
    for _ in 0..<50 {
        let wrap = try GiftWrap.wrap(rumor, from: sender, to: recipient.publicKey, now: now, using: &generator)
        let seal = try Event(
            json: NIP44.decrypt(wrap.content, try NIP44.conversationKey(recipient, wrap.pubkey)))
        for layer in [wrap, seal] { #expect((now - 172_800...now).contains(layer.createdAt)) }
        #expect(seal.tags.isEmpty)
        #expect(wrap.createdAt != seal.createdAt)
        wrapTimes.insert(wrap.createdAt)
    }
    #expect(wrapTimes.count > 45)
}

@Test func giftWrapOpensRecordedWelcomes() throws {
    let all = try #require(try Vectors.json("mdk-gift-wraps.json").array)
    #expect(all.count == 3)
    for record in all {
        let wrap = try Event(json: try #require(record["gift_wrap"]).json())
        let opened = try GiftWrap.unwrap(wrap, by: try KeyPair(parsing: record.text("seckey")))
        let (expected, expectedID) = try UnsignedEvent.parseRumor(try #require(record["rumor"]).json())
        #expect(opened.rumor == expected)
        #expect(opened.statedID == expectedID)
        #expect(opened.rumor.id == expectedID)
        #expect(opened.rumor.kind == .welcome)
        #expect(opened.sender == expected.pubkey)
    }
}

/// The example of NIP-59, from seal to rumor; the NIP publishes both of its keys.
@Test func giftWrapOpensNIP59ExampleSeal() throws {
    let author = try KeyPair(parsing: "0beebd062ec8735f4243466049d7747ef5d6594ee838de147f8aab842b15e273")
    let reader = try KeyPair(parsing: "e108399bd8424357a710b606ae0c13166d853d327e47a6e5e038197346bdbf45")
    let payload =
        "AqBCdwoS7/tPK+QGkPCadJTn8FxGkd24iApo3BR9/M0uw6n4RFAFSPAKKMgkzVMoRyR3ZS/aqATDFvoZJOkE9cPG/TAzmyZvr/WUIS8kLmuI1dCA"
        + "+itFF6+ULZqbkWS0YcVU0j6UDvMBvVlGTzHz+UHzWYJLUq2LnlynJtFap5k8560+tBGtxi9Gx2NIycKgbOUv0gEqhfVzAwvg1IhTltfSwOeZXvDv"
        + "d40rozONRxwq8hjKy+4DbfrO0iRtlT7G/eVEO9aJJnqagomFSkqCscttf/o6VeT2+A9JhcSxLmjcKFG3FEK3Try/WkarJa1jM3lMRQqVOZrzHAaL"
        + "FW/5sXano6DqqC5ERD6CcVVsrny0tYN4iHHB8BHJ9zvjff0NjLGG/v5Wsy31+BwZA8cUlfAZ0f5EYRo9/vKSd8TV0wRb9DQ="
    let json = try NIP44.decrypt(payload, try NIP44.conversationKey(reader, author.publicKey))
    let (rumor, statedID) = try UnsignedEvent.parseRumor(json)
    #expect(rumor.content == "Are you going to the party tonight?")
    #expect(statedID == rumor.id)
    #expect(rumor.pubkey == author.publicKey)
}

@Test func giftWrapRefusesChangedWrap() throws {
    let seal = try layer(.seal, rumor.rumorJSON(), by: sender, to: recipient.publicKey)
    let wrap = try layer(.giftWrap, seal.json(), by: Samples.key(8), to: recipient.publicKey)
    #expect(refusal(wrap) == nil)
    #expect(refusal(wrap.with(content: wrap.content + "A")) == .idMismatch)
    #expect(refusal(wrap.with(signature: seal.signature)) == .badSignature)
    #expect(refusal(try layer(.seal, seal.json(), by: Samples.key(8), to: recipient.publicKey)) == .unexpectedKind)
    #expect(
        refusal(try layer(.giftWrap, Array("{".utf8), by: Samples.key(8), to: recipient.publicKey)) == .truncatedJSON)
    let misdirected = try layer(
        .giftWrap, seal.json(), by: Samples.key(8), to: sender.publicKey, tagged: recipient.publicKey)
    #expect(refusal(misdirected) == .badMAC)
}

@Test func giftWrapNeedsOneRecipient() throws {
    let seal = try layer(.seal, rumor.rumorJSON(), by: sender, to: recipient.publicKey)
    let wrap = try layer(.giftWrap, seal.json(), by: Samples.key(8), to: recipient.publicKey)
    for tags in [[], [.user(sender.publicKey)], wrap.tags + wrap.tags, wrap.tags + [.user(sender.publicKey)]] as [[Tag]]
    {
        var generator = SplitMix64(seed: 7)
        let changed = UnsignedEvent(
            pubkey: wrap.pubkey, createdAt: now, kind: .giftWrap, tags: tags, content: wrap.content
        ).signed(by: Samples.key(8), using: &generator)
        #expect(refusal(changed) == .unexpectedRecipient)
    }
}

@Test func giftWrapRefusesChangedSeal() throws {
    func wrapped(_ seal: Event) throws -> Event {
        try layer(.giftWrap, seal.json(), by: Samples.key(8), to: recipient.publicKey)
    }
    let seal = try layer(.seal, rumor.rumorJSON(), by: sender, to: recipient.publicKey)
    #expect(refusal(try wrapped(seal.with(createdAt: 1))) == .idMismatch)
    #expect(refusal(try wrapped(seal.with(signature: Samples.event().signature))) == .badSignature)
    let wrongKind = try layer(.giftWrap, rumor.rumorJSON(), by: sender, to: recipient.publicKey)
    #expect(refusal(try wrapped(wrongKind)) == .unexpectedKind)
    let unread = try layer(.seal, rumor.rumorJSON(), by: sender, to: Samples.key(9).publicKey)
    #expect(refusal(try wrapped(unread)) == .badMAC)
    // Signed by an attacker, in the name of the sender.
    let forged = try layer(
        .seal, rumor.rumorJSON(), by: Samples.key(7), to: recipient.publicKey, pubkey: sender.publicKey)
    #expect(refusal(try wrapped(forged)) == .badSignature)
    #expect(
        refusal(try layer(.giftWrap, rumor.rumorJSON(), by: Samples.key(8), to: recipient.publicKey)) == .missingField)
}

@Test func giftWrapRefusesRumorOfAnotherAuthor() throws {
    let seal = try layer(.seal, rumor.rumorJSON(), by: Samples.key(7), to: recipient.publicKey)
    let wrap = try layer(.giftWrap, seal.json(), by: Samples.key(8), to: recipient.publicKey)
    #expect(refusal(wrap) == .authorMismatch)
    var generator = SplitMix64(seed: 6)
    let found = code {
        _ = try GiftWrap.wrap(rumor, from: Samples.key(7), to: recipient.publicKey, now: now, using: &generator)
    }
    #expect(found == .authorMismatch)
}

@Test func giftWrapRefusesDamagedRumor() throws {
    for (json, expected) in [
        ("?", NostrError.Code.malformedJSON), ("{}", .missingField), ("[]", .unexpectedType),
    ] {
        let seal = try layer(.seal, Array(json.utf8), by: sender, to: recipient.publicKey)
        #expect(refusal(try layer(.giftWrap, seal.json(), by: Samples.key(8), to: recipient.publicKey)) == expected)
    }
}

@Test func giftWrapReturnsMismatchedStatedID() throws {
    let json = Samples.text(rumor.rumorJSON()).replacing(rumor.id.hex, with: String(repeating: "0", count: 64))
    let seal = try layer(.seal, Array(json.utf8), by: sender, to: recipient.publicKey)
    let wrap = try layer(.giftWrap, seal.json(), by: Samples.key(8), to: recipient.publicKey)
    let opened = try GiftWrap.unwrap(wrap, by: recipient)
    #expect(opened.statedID != opened.rumor.id)
}

@Test func giftWrapRefusesInvalidRecipientsAndSizes() throws {
    var generator = SplitMix64(seed: 6)
    let nobody = try PublicKey(hex: String(repeating: "f", count: 64))
    #expect(
        code { _ = try GiftWrap.wrap(rumor, from: sender, to: nobody, now: now, using: &generator) }
            == .invalidPublicKey)
    var large = rumor
    large.content = String(repeating: "x", count: 60_000)
    #expect(
        code { _ = try GiftWrap.wrap(large, from: sender, to: recipient.publicKey, now: now, using: &generator) }
            == .invalidPayloadSize)
}

@Test(arguments: [400, 1000, 28_000, 28_672, 28_673, 40_960])
func predictsGiftWrapSize(count: Int) throws {
    var generator = SplitMix64(seed: 6)
    let short = UnsignedEvent(pubkey: sender.publicKey, createdAt: now, kind: .welcome, content: "")
    var rumor = short
    rumor.content = String(repeating: "x", count: count - short.rumorJSON().count)
    let wrap = try GiftWrap.wrap(rumor, from: sender, to: recipient.publicKey, now: now, using: &generator)
    #expect(GiftWrap.wrapBytes(aroundRumorOf: count) == wrap.json().count)
}

@Test func largestRumorIsTheSizeBound() throws {
    // 65,535 bytes in the seal's payload allow 40,960; 65,536 in the wrap's event 28,672 (NIP-44's padding).
    #expect(GiftWrap.largestRumor() == 40_960 && GiftWrap.largestRumor(inWrapOf: 65_536) == 28_672)
    #expect(GiftWrap.wrapBytes(aroundRumorOf: 40_961) == nil && GiftWrap.wrapBytes(aroundRumorOf: .max) == nil)
    var generator = SplitMix64(seed: 7)
    var rumor = UnsignedEvent(pubkey: sender.publicKey, createdAt: now, kind: .welcome, content: "")
    rumor.content = String(repeating: "x", count: 40_961 - rumor.rumorJSON().count)
    #expect(
        code { _ = try GiftWrap.wrap(rumor, from: sender, to: recipient.publicKey, now: now, using: &generator) }
            == .invalidPayloadSize)
}
