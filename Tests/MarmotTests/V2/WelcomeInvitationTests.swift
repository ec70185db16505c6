import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct WelcomeInvitationTests {
    private func rumor() throws -> UnsignedEvent {
        try UnsignedEvent.parseRumor(Array(V2Vectors.engineWelcome.utf8)).event
    }

    private func changed(_ change: (inout UnsignedEvent) throws -> Void) throws -> UnsignedEvent {
        var rumor = try self.rumor()
        try change(&rumor)
        return rumor
    }

    private func with(_ tags: [Tag]) throws -> UnsignedEvent { try self.changed { $0.tags = tags } }

    @Test func readsAndWritesRecordedWelcomes() throws {
        let rumor = try self.rumor()
        let invitation = try WelcomeInvitation(rumor)
        let announcement = try PublishedKeyPackage(V2Vectors.event(V2Vectors.engineKeyPackage))
        #expect(invitation.sender == rumor.pubkey && invitation.createdAt == rumor.createdAt)
        #expect(try V2Vectors.event(V2Vectors.engineKeyPackage).id == invitation.keyPackageEvent)
        #expect(invitation.relays.map(\.string) == ["wss://relay-a.example.com", "wss://relay-b.example.com"])
        #expect(invitation.welcome.secrets.map(\.newMember) == [announcement.keyPackage.reference])
        let written = try WelcomeInvitation.rumor(
            try #require(Base64.decode(rumor.content)), keyPackageEvent: invitation.keyPackageEvent,
            relays: invitation.relays, from: rumor.pubkey, now: rumor.createdAt)
        #expect(written == rumor)
    }

    @Test func toleratesOtherTags() throws {
        let tags = try self.rumor().tags
        for tag in [Tag("encoding", "base64"), Tag("client", "x"), Tag(values: [])] {
            _ = try WelcomeInvitation(self.with(tags + [tag]))
        }
    }

    @Test func needsOneTagOfEachName() throws {
        let (e, relays) = (try self.rumor().tags[0], try self.rumor().tags[1])
        for tags in [
            [], [e], [relays], [e, e, relays], [e, relays, relays], [Tag("e"), relays], [Tag("e", "00"), relays],
            [e, Tag("relays")], [e, Tag("relays", "https://a.example")], [e, Tag("relays", "")],
        ] {
            expectError(.badTag) { _ = try WelcomeInvitation(self.with(tags)) }
        }
    }

    @Test func boundsRelays() throws {
        let e = try self.rumor().tags[0]
        let relays = try (0..<17).map { try RelayURL("wss://r\($0).example") }
        let id = try EventID(hex: #require(e.value))
        let author = try self.rumor().pubkey
        expectError(.badTag, "found 17") {
            _ = try WelcomeInvitation(self.with([e, Tag(values: ["relays"] + relays.map(\.string))]))
        }
        expectError(.badTag, "found 17") {
            _ = try WelcomeInvitation.rumor([], keyPackageEvent: id, relays: relays, from: author, now: 1)
        }
        expectError(.badTag, "found 0") {
            _ = try WelcomeInvitation.rumor([], keyPackageEvent: id, relays: [], from: author, now: 1)
        }
        let long = try RelayURL("wss://a.example/" + String(repeating: "p", count: 497))
        expectError(.badTag, "512 bytes") {
            _ = try WelcomeInvitation.rumor([], keyPackageEvent: id, relays: [long], from: author, now: 1)
        }
    }

    @Test func refusesOtherContents() throws {
        let bytes = try #require(Base64.decode(try self.rumor().content))
        func expect(_ code: MarmotError.Code, _ content: String) {
            expectError(code) { _ = try WelcomeInvitation(self.changed { $0.content = content }) }
        }
        expect(.badContent, "!")
        expect(.mls, "")
        expect(.mls, Base64.encode(Array(bytes.dropLast())))
        expect(.mls, Base64.encode(bytes + [0]))
        expect(.badContent, try V2Vectors.event(V2Vectors.engineKeyPackage).content)
        var suite = bytes
        suite[5] = 2
        expect(.incompatible, Base64.encode(suite))
        expectError(.wrongKind) { _ = try WelcomeInvitation(self.changed { $0.kind = 9 }) }
    }

    // MARK: Sizes

    /// A Welcome of the largest size fits, the next longer one does not.
    @Test(arguments: [nil, 65_536]) func largestMessageJustFits(limit: Int?) throws {
        let relays = [try RelayURL("wss://relay-a.example.com"), try RelayURL("wss://relay-b.example.com")]
        func rumor(_ count: Int) throws -> UnsignedEvent {
            try WelcomeInvitation.rumor(
                [UInt8](repeating: 0, count: count), keyPackageEvent: EventID(bytes: [UInt8](repeating: 1, count: 32)),
                relays: relays, from: self.rumor().pubkey, now: 1_800_000_000)
        }
        let frame = try rumor(0).rumorJSON().count
        let largest = (GiftWrap.largestRumor(inWrapOf: limit) - frame) / 4 * 3
        let limits = SizeLimits(relayEventBytes: limit)
        try limits.requireFit(of: try rumor(largest), members: 3)
        expectError(.tooLarge) { try limits.requireFit(of: try rumor(largest + 3), members: 3) }
    }
}
