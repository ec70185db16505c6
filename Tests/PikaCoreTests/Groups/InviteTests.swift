import BotTesting
import Nostr
import PikaCore
import Testing

@Suite struct InviteTests {
    @Test func nobodyPolicyKeepsInvitationsPending() async throws {
        let lab = try GroupLab(seed: 20)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob", invites: .nobody)
        let chat = try await alice.create("friends", inviting: [bob])
        let state = try await bob.state()
        #expect(state.chatList.isEmpty)
        #expect(state.invites.map(\.inviter) == [alice.publicKey])
        let wrapper = try #require(state.invites.first?.wrapper)
        #expect(try await bob.perform(.acceptInvite(wrapper: wrapper)) == .done(chatID: chat))
        try await alice.say("welcome")
        #expect(bob.heard(in: chat) == ["welcome"])
        #expect(try await bob.state().invites.isEmpty)
    }

    @Test func removesDeclinedInvitation() async throws {
        let lab = try GroupLab(seed: 21)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob", invites: .nobody)
        try await alice.create("friends", inviting: [bob])
        let wrapper = try #require(try await bob.state().invites.first?.wrapper)
        try await bob.perform(.declineInvite(wrapper: wrapper))
        bob.crash()
        try await bob.restart()
        let state = try await bob.state()
        #expect(state.invites.isEmpty && state.chatList.isEmpty)
        guard case .failed(let error) = try await bob.attempt(.acceptInvite(wrapper: wrapper)) else {
            Issue.record("expected a declined invitation to be refused")
            return
        }
        #expect(error.code == .unknownInvite)
    }

    @Test func allowlistAdmitsOnlyNamedInviters() async throws {
        let lab = try GroupLab(seed: 22)
        let alice = try await lab.member("alice")
        let mallory = try await lab.member("mallory")
        let bob = try await lab.member("bob", invites: .only([alice.publicKey]))
        let good = try await alice.create("good", inviting: [bob])
        try await mallory.create("bad", inviting: [bob])
        let state = try await bob.state()
        #expect(state.chatList.map(\.chatID) == [good])
        #expect(state.invites.map(\.inviter) == [mallory.publicKey])
    }

    @Test func pendingInvitationSurvivesCrash() async throws {
        let lab = try GroupLab(seed: 23)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob", invites: .nobody)
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.say("early")
        bob.crash()
        try await bob.restart()
        let wrapper = try #require(try await bob.state().invites.first?.wrapper)
        try await bob.perform(.acceptInvite(wrapper: wrapper))
        #expect(bob.heard(in: chat) == ["early"])
    }
}
