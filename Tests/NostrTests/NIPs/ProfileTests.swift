import Nostr
import Testing

@Suite struct ProfileMetadataTests {
    @Test func profileRoundTripsWithoutLoss() throws {
        let json = """
            {"nip05":"a@example.com","name":"alice","bot":true,"about":"line\\nline","display_name":"Alice 🦊",\
            "picture":"https://example.com/a.png","birthday":{"year":1990,"day":null},"n":1.5,"list":[1,"x",[]]}
            """
        var profile = try ProfileMetadata(content: json)
        #expect(profile.name == "alice" && profile.displayName == "Alice 🦊")
        #expect(profile.about == "line\nline" && profile.picture == "https://example.com/a.png")
        #expect(profile.content == json)
        profile.name = "bob"
        profile.picture = nil
        profile.displayName = "Bob"
        #expect(
            profile.content == """
                {"nip05":"a@example.com","name":"bob","bot":true,"about":"line\\nline","display_name":"Bob",\
                "birthday":{"year":1990,"day":null},"n":1.5,"list":[1,"x",[]]}
                """)
    }

    @Test func ignoresButKeepsMembersOfWrongType() throws {
        let json = #"{"name":7,"display_name":null,"about":["x"],"picture":{"url":"x"}}"#
        var profile = try ProfileMetadata(content: json)
        #expect(profile.name == nil && profile.displayName == nil && profile.about == nil && profile.picture == nil)
        #expect(profile.content == json)
        profile.about = "text"
        #expect(profile.content == #"{"name":7,"display_name":null,"about":"text","picture":{"url":"x"}}"#)
    }

    @Test func firstRepeatedProfileMemberWins() throws {
        #expect(try ProfileMetadata(content: #"{"name":"a","name":"b"}"#).name == "a")
        #expect(try ProfileMetadata(content: #" { "name" : "\u0000\ud83e\udd8a" } "#).name == "\u{0}🦊")
        #expect(ProfileMetadata().content == "{}")
    }

    @Test func refusesInvalidProfiles() {
        func refusal(_ text: String) -> NostrError.Code? { code { _ = try ProfileMetadata(content: text) } }
        #expect(refusal("[]") == .unexpectedType)
        #expect(refusal("\"name\"") == .unexpectedType)
        #expect(refusal("null") == .unexpectedType)
        #expect(refusal("") == .truncatedJSON)
        #expect(refusal("alice") == .malformedJSON)
        #expect(refusal(#"{"name":"a"} x"#) == .malformedJSON)
        #expect(refusal(#"{"name":"a"#) == .truncatedJSON)
        #expect(refusal(#"{"name":"\ud83e"}"#) == .malformedJSON)
        #expect(refusal(#"{"n":99999999999999999999}"#) == .numberOutOfRange)
        #expect(refusal(String(repeating: #"{"a":"#, count: 100)) == .jsonTooDeep)
        let large = #"{"name":"\#(String(repeating: "x", count: ProfileMetadata.maximumBytes))"}"#
        #expect(refusal(large) == .invalidPayloadSize)
        let whole = #"{"name":"alice","about":"é","x":[1,{"y":null}]}"#
        for length in 0..<whole.utf8.count {
            let part = String(decoding: whole.utf8.prefix(length), as: UTF8.self)
            #expect(refusal(part) != nil, "\(length) bytes")
        }
    }
}

@Suite struct FollowListTests {
    private let alice = Samples.key(1).publicKey
    private let bob = Samples.key(2).publicKey

    @Test func readsUniqueEntriesInOrder() throws {
        let list = try FollowList(
            Samples.event(
                kind: 3,
                tags: [
                    Tag("p", self.alice.hex, "wss://relay.example.com", "ally"), Tag("p", self.bob.hex, "no relay", ""),
                    Tag("p", self.alice.hex, "", "again"),
                ], content: ""))
        #expect(list.entries.map(\.publicKey) == [self.alice, self.bob])
        #expect(list.entries[0].relay?.string == "wss://relay.example.com" && list.entries[0].petname == "ally")
        #expect(list.entries[1].relay == nil && list.entries[1].petname == nil)
        #expect(list.follows(self.bob) && !list.follows(Samples.key(3).publicKey))
    }

    @Test func keepsForeignEntriesOnChange() throws {
        let odd = [Tag("p"), Tag("p", "zz"), Tag(values: []), Tag("t", "x"), Tag("client", "y", "z")]
        let known = Tag("p", self.alice.hex, "wss://relay.example.com", "ally", "more")
        var list = try FollowList(Samples.event(kind: 3, tags: odd + [known], content: "{\"wss://old\":{}}"))
        let changes = [
            list.follow(self.alice), list.follow(self.bob), list.unfollow(Samples.key(3).publicKey),
        ]
        #expect(changes == [false, true, false])
        var event = list.unsigned(by: self.alice, createdAt: 5)
        #expect(event.kind == .followList && event.createdAt == 5 && event.content == "{\"wss://old\":{}}")
        #expect(event.tags == odd + [known, Tag("p", self.bob.hex)])
        list.unfollow(self.alice)
        event = list.unsigned(by: self.alice, createdAt: 6)
        #expect(event.tags == odd + [Tag("p", self.bob.hex)])
    }

    @Test func unfollowRemovesEveryEntry() throws {
        let upper = Tag("p", self.alice.hex.uppercased())
        var list = try FollowList(
            Samples.event(kind: 3, tags: [Tag("p", self.alice.hex), upper, Tag("p", self.alice.hex, "", "x")]))
        let isRemoved = list.unfollow(self.alice)
        #expect(isRemoved)
        #expect(!list.tags.contains(Tag("p", self.alice.hex)) && !list.follows(self.alice))
    }

    @Test func refusesOtherKinds() {
        #expect(code { _ = try FollowList(Samples.event(kind: 1)) } == .unexpectedKind)
        #expect(FollowList().entries.isEmpty && FollowList().tags.isEmpty)
    }
}
