import Nostr
import Testing

@testable import MLS
@testable import Marmot

struct MessageTests {
    @Test func messageRoundTrips() throws {
        var lab = try Lab(2)
        let event = try lab.say("hello 👋", from: 0)
        try event.verify()
        #expect(event.kind == 445 && event.createdAt == lab.now && event.pubkey != lab.keys[0].publicKey)
        #expect(event.tags.map(\.values) == [["h", String(repeating: "11", count: 32)], ["encoding", "base64"]])
        let message = try #require(lab.deliver(event, to: 1).message)
        #expect(message.rumor == lab.rumor("hello 👋", from: 0) && message.id == message.rumor.id)
        #expect(message.epoch == 1 && message.wrapper == event.id)
    }

    @Test func everyEventUsesAFreshSigningKey() throws {
        var lab = try Lab(2)
        let events = try (0..<5).map { try lab.say("\($0)", from: 0) } + [try lab.commit(.selfUpdate, by: 0)]
        #expect(Set(events.map(\.pubkey)).count == 6)
    }

    @Test func deliversUnknownKinds() throws {
        var lab = try Lab(2)
        for kind: Kind in [0, 5, 7, 10, 1200, 9467, 20067, 65535] {
            let event = try lab.groups[0].seal(lab.rumor("x", from: 0, kind: kind), now: lab.now, using: &lab.rng)
            #expect(lab.deliver(event, to: 1).message?.rumor.kind == kind)
        }
    }

    @Test func unorderedMessagesOpenOnce() throws {
        var lab = try Lab(2)
        let events = try (0..<20).map { try lab.say("\($0)", from: 0) }
        for (index, event) in events.enumerated().reversed() {
            #expect(lab.deliver(event, to: 1).message?.rumor.content == "\(index)")
        }
        for event in events { #expect(lab.deliver(event, to: 1).label == "refused/key_consumed") }
    }

    @Test func opens1000GenerationsBack() throws {
        var lab = try Lab(2)
        let events = try (0..<1002).map { try lab.say("\($0)", from: 0) }
        #expect(lab.deliver(events[500], to: 1).label == "message")
        #expect(lab.deliver(events[1001], to: 1).label == "message")
        #expect(lab.deliver(events[0], to: 1).label == "refused/key_consumed")
        #expect(lab.deliver(events[1], to: 1).label == "message")
    }

    @Test func opens1000GenerationsAhead() throws {
        var lab = try Lab(3)
        for _ in 0..<1000 { _ = try lab.groups[0].mls.protect([], using: &lab.rng) }
        let near = try lab.say("1000 ahead", from: 0)
        let far = try lab.say("1001 ahead", from: 0)
        #expect(lab.deliver(far, to: 1).label == "refused/generation_too_far")
        #expect(lab.deliver(near, to: 1).label == "message")
        #expect(lab.deliver(far, to: 1).label == "message")
    }

    /// MLS has proved the sender, so the key is consumed: the sender spends its own ratchet, and the same ciphertext
    /// does not open a second time.
    @Test func refusedInnerAuthorConsumesTheKey() throws {
        var lab = try Lab(3)
        let forged = try lab.say(raw: lab.rumor("I am 2", from: 2).rumorJSON(), from: 0)
        #expect(lab.deliver(forged, to: 1).label == "refused/identity_mismatch")
        #expect(lab.deliver(forged, to: 1).label == "refused/key_consumed")
        try lab.expectAgreement()
    }

    @Test func refusesSendingForAnotherAuthor() throws {
        var lab = try Lab(2)
        let before = lab.groups[0].contents
        expectError(.identityMismatch) {
            _ = try lab.groups[0].seal(lab.rumor("x", from: 1), now: lab.now, using: &lab.rng)
        }
        #expect(lab.groups[0].contents == before)
    }

    @Test func statedIDMustMatchTheHash() throws {
        var lab = try Lab(2)
        let rumor = lab.rumor("hello", from: 0)
        let json = String(decoding: rumor.rumorJSON(), as: UTF8.self)
        let id = "\"id\":\"\(rumor.id.hex)\","
        #expect(json.contains(id))
        let wrong = json.split(separator: id, omittingEmptySubsequences: false).joined(
            separator: "\"id\":\"\(String(repeating: "0", count: 64))\",")
        #expect(lab.deliver(try lab.say(raw: Array(wrong.utf8), from: 0), to: 1).label == "refused/bad_rumor")
        let missing = json.split(separator: id, omittingEmptySubsequences: false).joined()
        let event = try lab.say(raw: Array(missing.utf8), from: 0)
        #expect(lab.deliver(event, to: 1).message?.id == rumor.id)
    }

    /// MDK hashes control characters as its JSON library writes them, `\u0001`; NIP-01 wants them verbatim.
    @Test func acceptsBothControlCharacterHashes() throws {
        var lab = try Lab(2)
        let key = lab.keys[0].publicKey.hex
        let escaped = "[0,\"\(key)\",\(lab.now),9,[],\"a\\u0001b\"]"
        let verbatim = "[0,\"\(key)\",\(lab.now),9,[],\"a\u{1}b\"]"
        for form in [escaped, verbatim] {
            let id = Hex.encode(CipherSuite.x25519AES128GCM.hash.digest(Array(form.utf8)))
            let json =
                "{\"id\":\"\(id)\",\"pubkey\":\"\(key)\",\"created_at\":\(lab.now),\"kind\":9,\"tags\":[],"
                + "\"content\":\"a\\u0001b\"}"
            let event = try lab.say(raw: Array(json.utf8), from: 0)
            #expect(lab.deliver(event, to: 1).message?.rumor.content == "a\u{1}b")
        }
    }

    @Test func refusesPayloadThatIsNotAnEvent() throws {
        var lab = try Lab(2)
        for bytes: [UInt8] in [[], [0xFF], Array("{}".utf8), Array("[]".utf8), Array("null".utf8)] {
            #expect(lab.deliver(try lab.say(raw: bytes, from: 0), to: 1).label == "refused/bad_rumor")
        }
        try lab.expectAgreement()
    }

    @Test func refusesMessagesPeersCannotStore() throws {
        var lab = try Lab(2)
        let limit = ApplicationMessages.maximumBytes
        let frame = lab.rumor("", from: 0).rumorJSON().count
        let fits = try lab.say(String(repeating: "x", count: limit - frame), from: 0)
        #expect(lab.deliver(fits, to: 1).label == "message")
        let before = lab.groups[0].contents
        expectError(.tooLarge, "102400") { _ = try lab.say(String(repeating: "x", count: limit - frame + 1), from: 0) }
        #expect(lab.groups[0].contents == before)
        let json = lab.rumor(String(repeating: "x", count: limit - frame + 1), from: 0).rumorJSON()
        #expect(lab.deliver(try lab.say(raw: json, from: 0), to: 1).label == "refused/too_large")
    }

    @Test func ownMessageReturnsAsEcho() throws {
        var lab = try Lab(2)
        let event = try lab.say("hello", from: 0)
        let before = lab.groups[0].contents
        #expect(lab.deliver(event, to: 0).label == "ownEcho")
        #expect(lab.groups[0].contents == before)
    }

    @Test func acceptsAnyPaddingLength() throws {
        var lab = try Lab(2)
        lab.groups[0].mls.configuration.paddingSize = 512
        #expect(lab.deliver(try lab.say("padded", from: 0), to: 1).message?.rumor.content == "padded")
    }
}
