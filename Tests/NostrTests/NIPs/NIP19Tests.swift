import Testing

@testable import Nostr

private let key = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d"

@Test func nip19EncodesExamples() throws {
    let npub = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"
    #expect(try PublicKey(hex: key).npub == npub)
    #expect(try NIP19.decode(npub) == .publicKey(PublicKey(hex: key)))
    let text =
        "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg6nzv9ejuumpv34kytnrdaksjlyr9p"
    let profile = NIP19.Profile(publicKey: try PublicKey(hex: key), relays: ["wss://r.x.com", "wss://djbas.sadkb.com"])
    #expect(try NIP19.decode(text) == .profile(profile))
    #expect(NIP19.encode(profile) == text)
}

@Test func nip19RoundTripsEveryEntity() throws {
    let event = Samples.event(kind: 30443, tags: [Tag("d", "identifier é")])
    let note = NIP19.encode(event.id)
    #expect(note.hasPrefix("note1"))
    #expect(try NIP19.decode(note) == .note(event.id))
    #expect(try NIP19.decodeNote(note) == event.id)
    let bare = NIP19.EventPointer(id: event.id)
    #expect(try NIP19.decode(NIP19.encode(bare)) == .event(bare))
    let full = NIP19.EventPointer(id: event.id, relays: ["wss://a"], author: event.pubkey, kind: event.kind)
    #expect(try NIP19.decode(NIP19.encode(full)) == .event(full))
    let address = NIP19.AddressPointer(address: try #require(event.address), relays: ["wss://a", "wss://b"])
    #expect(try NIP19.decode(#require(NIP19.encode(address))) == .address(address))
    let tooLong = EventAddress(kind: 30000, pubkey: event.pubkey, identifier: String(repeating: "x", count: 256))
    #expect(NIP19.encode(NIP19.AddressPointer(address: tooLong)) == nil)
}

@Test func nip19RefusesDamagedText() throws {
    let npub = try PublicKey(hex: key).npub
    var wrong = ["", "npub", "1", "npub1", String(npub.dropLast()), npub + "q", " " + npub, npub + " ", "é" + npub]
    wrong.append("N" + npub.dropFirst())
    wrong.append(npub.replacing("npub1", with: "npub"))
    wrong.append(npub.replacing("0c", with: "0b"))
    wrong.append("npub1" + String(repeating: "q", count: 5000))
    for text in wrong { #expect(code { _ = try NIP19.decodePublicKey(text) } == .invalidBech32, "\(text.prefix(80))") }
    // A checksum of Bech32 finds any single wrong character.
    let letters = Array(npub)
    for position in 5..<letters.count {
        var changed = letters
        changed[position] = changed[position] == "q" ? "p" : "q"
        #expect(code { _ = try NIP19.decodePublicKey(String(changed)) } == .invalidBech32)
    }
}

@Test func nip19RefusesOtherEntitiesAndContents() throws {
    let note = NIP19.encode(try EventID(hex: key))
    #expect(code { _ = try NIP19.decodePublicKey(note) } == .unexpectedPrefix)
    #expect(code { _ = try NIP19.decode(Samples.key(1).nsec) } == .unexpectedPrefix)
    #expect(code { _ = try NIP19.decode(Bech32.encode(prefix: "nrelay", [0, 0])) } == .unexpectedPrefix)
    let bytes = try PublicKey(hex: key).bytes
    let wrong: [(String, [UInt8])] = [
        ("npub", [1]), ("npub", bytes + [0]), ("nprofile", []), ("nprofile", [0]), ("nprofile", [0, 32]),
        ("nprofile", [0, 31] + bytes.dropLast()), ("nprofile", [1, 1, 0x61]), ("nevent", [0, 32] + bytes + [2, 1, 0]),
        ("nevent", [0, 32] + bytes + [3, 4, 0, 1, 0, 0]), ("nevent", [0, 32] + bytes + [3, 1, 1]), ("naddr", [0, 0]),
        ("naddr", [0, 1, 0xff, 2, 32] + bytes + [3, 4, 0, 0, 0, 1]),
    ]
    for (prefix, content) in wrong {
        #expect(code { _ = try NIP19.decode(Bech32.encode(prefix: prefix, content)) } == .invalidBech32)
    }
    let unknownField = Bech32.encode(prefix: "nprofile", [9, 2, 1, 1, 0, 32] + bytes)
    #expect(try NIP19.decode(unknownField) == .profile(NIP19.Profile(publicKey: PublicKey(hex: key))))
}
