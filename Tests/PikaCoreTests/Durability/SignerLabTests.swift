import BotTesting
import Testing

/// Groups with a member whose key is held by a remote signer.
@Suite struct SignerLabTests {
    @Test func remoteSignerMembersChatLikeOthers() async throws {
        let lab = try GroupLab(seed: 11)
        let alice = try await lab.member("alice", remoteSigner: true)
        let bob = try await lab.member("bob", remoteSigner: true)
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob, carol])
        for member in [alice, bob, carol] { try await member.say("by \(member.name)", in: chat) }
        #expect(bob.heard(in: chat) == ["by alice", "by carol"])
        let second = try await carol.create("others", inviting: [alice])
        try await carol.say("hi", in: second)
        #expect(alice.heard(in: second) == ["hi"])
        // Messages need no signer; key packages, lists and invitations do.
        let before = bob.signer?.questions
        try await bob.say("again", in: chat)
        #expect(bob.signer?.questions == before)
    }

    @Test func continuesWithoutSigner() async throws {
        let lab = try GroupLab(seed: 12)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob", remoteSigner: true)
        let signer = try #require(bob.signer)
        let chat = try await alice.create("friends", inviting: [bob])
        signer.conduct = .away
        let second = try await alice.create("later", inviting: [bob])
        try await alice.say("one", in: chat)
        try await alice.say("two", in: second)
        try await bob.say("heard", in: chat)
        #expect(bob.heard(in: chat) == ["one"] && alice.heard(in: chat) == ["heard"])
        #expect(bob.heard(in: second).isEmpty)
        try await lab.advance(by: .seconds(600))
        // It was asked repeatedly, but with delays.
        #expect((10...20).contains(signer.questions - 12), "\(signer.questions)")
        signer.conduct = .answers
        try await lab.advance(by: .seconds(60))
        #expect(bob.heard(in: second) == ["two"])
    }

    @Test(arguments: 0..<4) func survivesCrashBeforeSignersAnswer(_ answered: Int) async throws {
        let lab = try GroupLab(seed: 13)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob", remoteSigner: true)
        let carol = try await lab.member("carol")
        let signer = try #require(bob.signer)
        signer.conduct = .holdsBack
        // Bob is invited, and invites; both wait for the signer.
        _ = try await alice.create("theirs", inviting: [bob])
        bob.begin(.createGroupChat(name: "his", peers: [carol.publicKey]))
        try await lab.settle()
        #expect(signer.waiting == 2)
        // With each release, both invitations get one more of their signed or encrypted layers.
        for _ in 0..<answered {
            signer.release()
            signer.conduct = .holdsBack
            try await lab.settle()
        }
        bob.crash()
        signer.release()
        try await bob.restart()
        try await lab.settle()
        #expect(try await bob.state().chatList.count == 2)
        #expect(try await carol.state().chatList.count == 1)
        try await alice.say("hello")
        #expect(bob.heard() == ["hello"])
        // The crash has repeated nothing: the relay has one gift wrap of each invitation.
        let wraps = lab.network.events(at: lab.relay).filter { $0.kind == .giftWrap }
        #expect(wraps.count == 2)
    }

    @Test func refusesAnswersOfCheatingSigner() async throws {
        let lab = try GroupLab(seed: 14)
        let alice = try await lab.member("alice", remoteSigner: true)
        alice.signer?.conduct = .cheats
        let bob = try await lab.member("bob")
        guard
            case .partlyDone(_, let left)? = try await alice.attempt(
                .createGroupChat(name: "friends", peers: [bob.publicKey]))
        else {
            Issue.record("expected the unsealed invitation to be reported")
            return
        }
        #expect(Array(left.keys) == [bob.publicKey])
        #expect(try await bob.state().chatList.isEmpty)
    }
}
