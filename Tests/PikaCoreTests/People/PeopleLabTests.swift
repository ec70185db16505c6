import BotTesting
import Testing

/// Profiles and follow lists among complete members over relays.
@Suite struct PeopleLabTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 9, 8, 7]

    private func names(_ member: LabMember, _ chat: ChatID, of people: [LabMember]) async throws -> [String?] {
        let members = try await member.summary(of: chat)?.allMembers ?? []
        return people.map { person in members.first { $0.publicKey == person.publicKey }?.name }
    }

    @Test func everyMemberLearnsAllNames() async throws {
        let lab = try GroupLab(seed: 900, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        for member in [alice, bob, carol] { try await member.perform(.saveProfile(ProfileDraft(name: member.name))) }
        let chat = try await alice.create("friends", inviting: [bob, carol])
        for member in [alice, bob, carol] {
            #expect(try await self.names(member, chat, of: [alice, bob, carol]) == ["alice", "bob", "carol"])
            #expect(try await member.state().myProfile?.name == member.name)
        }
        try await bob.say("hello")
        #expect(try await alice.messages().map(\.senderName) == ["bob"])
        // A new name appears at the next lookup.
        try await bob.perform(.saveProfile(ProfileDraft(name: "robert")))
        try await lab.advance(by: .seconds(61))
        try await alice.perform(.refreshProfile)
        #expect(try await self.names(alice, chat, of: [bob]) == ["robert"])
        #expect(try await alice.messages().map(\.senderName) == ["robert"])
        // Without any relay the names stay, also after a restart.
        for relay in lab.relays { lab.network.takeDown(relay, reason: "gone") }
        carol.crash()
        try await carol.restart()
        #expect(try await self.names(carol, chat, of: [alice, bob, carol]) == ["alice", "bob", "carol"])
        guard case .failed(let error)? = try await carol.attempt(.refreshProfile) else {
            return #expect(Bool(false), "expected a failure without relays")
        }
        #expect(error.code == .noRelay)
        #expect(try await self.names(carol, chat, of: [alice, bob]) == ["alice", "bob"])
    }

    @Test func twoProgramsShareFollowList() async throws {
        let lab = try GroupLab(seed: 901)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        try await bob.perform(.saveProfile(ProfileDraft(name: "bob")))
        try await alice.perform(.follow(bob.publicKey))
        try await alice.perform(.follow(carol.publicKey))
        var list = try await alice.state().followList
        #expect(list.map(\.profile.publicKey) == [bob.publicKey, carol.publicKey])
        #expect(list.map(\.profile.name) == ["bob", nil])
        alice.crash()
        try await alice.restart()
        list = try await alice.state().followList
        #expect(list.map(\.profile.name) == ["bob", nil])
        lab.network.takeDown(lab.relay, reason: "gone")
        try await lab.advance(by: .seconds(120))
        guard case .failed(let error)? = try await alice.attempt(.unfollow(bob.publicKey)) else {
            return #expect(Bool(false), "expected a failure without relays")
        }
        #expect(error.code == .noRelay)
        lab.network.bringUp(lab.relay)
        try await lab.advance(by: .seconds(120))
        try await alice.perform(.unfollow(bob.publicKey))
        #expect(try await alice.state().followList.map(\.profile.publicKey) == [carol.publicKey])
    }

    @Test func groupProfilesWithPicturesReachNewMembers() async throws {
        let lab = try GroupLab(seed: 902)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob])
        let image = OutgoingImage(bytes: Self.png, mediaType: "image/png")
        try await bob.perform(.saveGroupProfile(chatID: chat, ProfileDraft(name: "b", about: "x", image: image)))
        for member in [alice, bob] {
            #expect(try await member.groupProfileImage(of: bob) == Self.png)
            let profile = try await member.groupProfile(of: bob)
            #expect(profile?.name == "b" && profile?.about == "x" && profile?.picture != nil)
        }
        try await alice.add([carol], to: chat)
        #expect(try await self.names(carol, chat, of: [alice, bob]) == [nil, "b"])
        #expect(try await carol.groupProfile(of: bob)?.about == "x")
        #expect(try await carol.groupProfile(of: alice) == nil)
        try await bob.say("hi", in: chat)
        #expect(try await carol.messages(in: chat).map(\.senderName) == ["b"])
        carol.crash()
        try await carol.restart()
        #expect(try await self.names(carol, chat, of: [bob]) == ["b"])
    }
}
