import BotTesting
import Nostr
import PikaCore
import Testing

/// Commit before Welcome, refused commits, events that arrive before their commit, and races.
@Suite struct CommitTests {
    private struct Trio {
        let lab: GroupLab
        let alice: LabMember
        let bob: LabMember
        let carol: LabMember
        let chat: ChatID
    }

    /// Alice and Bob in a group; Carol outside.
    private func trio(_ seed: UInt64, relays: Int = 1) async throws -> Trio {
        let lab = try GroupLab(seed: seed, relays: relays)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob])
        return Trio(lab: lab, alice: alice, bob: bob, carol: carol, chat: chat)
    }

    private func welcomes(_ lab: GroupLab) -> Int {
        lab.network.publications.filter { $0.publication.event.kind == .giftWrap }.count
    }

    @Test func sendsWelcomeOnlyAfterCommitIsAccepted() async throws {
        let trio = try await trio(30)
        let lab = trio.lab
        let before = welcomes(lab)
        lab.network.onPublish { $0.event.kind == .groupEvent ? .hold : .deliver }
        let request = trio.alice.begin(.addGroupMembers(chatID: trio.chat, peers: [trio.carol.publicKey]))
        try await lab.settle()
        #expect(trio.alice.outcome(of: request) == nil)
        #expect(lab.network.heldCount == 1)
        #expect(welcomes(lab) == before)
        #expect(try await trio.alice.summary(of: trio.chat)?.epoch == 1)
        #expect(try await trio.alice.state().busy.changingChats == [trio.chat])
        lab.network.deliverEverything()
        lab.network.release()
        try await lab.settle()
        #expect(trio.alice.outcome(of: request) == .done(chatID: trio.chat))
        #expect(welcomes(lab) == before + 1)
        #expect(try await lab.expectAgreement([trio.alice, trio.bob, trio.carol], in: trio.chat) == 2)
        #expect(try await trio.alice.state().busy.changingChats.isEmpty)
    }

    @Test func echoedCommitCountsAsAccepted() async throws {
        let trio = try await trio(31)
        trio.lab.network.onPublish { $0.event.kind == .groupEvent ? .holdAnswer : .deliver }
        try await trio.alice.add([trio.carol])
        #expect(try await trio.lab.expectAgreement([trio.alice, trio.bob, trio.carol], in: trio.chat) == 2)
        trio.lab.network.deliverEverything()
        trio.lab.network.release()
        #expect(try await trio.lab.expectAgreement([trio.alice, trio.bob, trio.carol], in: trio.chat) == 2)
        try await trio.alice.say("on")
        #expect(trio.carol.heard() == ["on"])
    }

    @Test func secondChangeWaitsForFirst() async throws {
        let trio = try await trio(32)
        trio.lab.network.onPublish { $0.event.kind == .groupEvent ? .hold : .deliver }
        let first = trio.alice.begin(.renameGroup(chatID: trio.chat, name: "one"))
        try await trio.lab.settle()
        let second = trio.alice.begin(.renameGroup(chatID: trio.chat, name: "two"))
        try await trio.lab.settle()
        #expect(trio.lab.network.heldCount == 1)
        #expect(trio.alice.outcome(of: first) == nil && trio.alice.outcome(of: second) == nil)
        trio.lab.network.deliverEverything()
        trio.lab.network.release()
        try await trio.lab.settle()
        #expect(trio.alice.outcome(of: first) == .done(chatID: trio.chat))
        #expect(trio.alice.outcome(of: second) == .done(chatID: trio.chat))
        #expect(try await trio.bob.summary(of: trio.chat)?.name == "two")
    }

    @Test func dropsRefusedCommit() async throws {
        let trio = try await trio(33)
        let before = welcomes(trio.lab)
        trio.lab.network.onPublish { $0.event.kind == .groupEvent ? .refuse("blocked: no") : .deliver }
        let outcome = try await trio.alice.attempt(
            .addGroupMembers(chatID: trio.chat, peers: [trio.carol.publicKey]))
        guard case .failed(let error) = outcome else {
            Issue.record("unexpected outcome: \(String(describing: outcome))")
            return
        }
        #expect(error.code == .refused)
        let state = try await trio.alice.state()
        #expect(state.toast?.contains("blocked: no") == true)
        #expect(state.busy.changingChats.isEmpty && state.outbox.pending == 0)
        #expect(welcomes(trio.lab) == before)
        trio.lab.network.deliverEverything()
        try await trio.alice.rename(to: "still works")
        try await trio.bob.say("yes", in: trio.chat)
        #expect(trio.alice.heard() == ["yes"])
        #expect(try await trio.lab.expectAgreement([trio.alice, trio.bob], in: trio.chat) == 2)
    }

    @Test func oneRelayOfSeveralIsEnough() async throws {
        let trio = try await trio(34, relays: 3)
        let last = trio.lab.relays[2]
        trio.lab.network.onPublish { $0.relay == last ? .deliver : .refuse("blocked: no") }
        try await trio.alice.add([trio.carol])
        #expect(try await trio.lab.expectAgreement([trio.alice, trio.bob, trio.carol], in: trio.chat) == 2)
    }

    @Test func holdsMessageUntilItsCommit() async throws {
        let trio = try await trio(35, relays: 2)
        let (one, two) = (trio.lab.relays[0], trio.lab.relays[1])
        // Bob receives the commit late, because the only relay that has it goes down.
        trio.lab.network.takeDown(two)
        try await trio.lab.settle()
        trio.bob.crash()
        try await trio.alice.rename(to: "new")
        let commit = try #require(trio.lab.network.events(at: one).last)
        try await trio.alice.say("in the new epoch")
        trio.lab.network.takeDown(one)
        try await trio.bob.restart()
        let message = try #require(trio.lab.network.events(at: one).last)
        // Its author is offline too, so it cannot send the commit to the other relay.
        trio.alice.crash()
        trio.lab.network.bringUp(two)
        try await trio.lab.settle()
        trio.lab.network.inject(message, at: two)
        try await trio.lab.settle()
        #expect(trio.bob.heard().isEmpty)
        #expect(try await trio.bob.summary(of: trio.chat)?.epoch == 1)
        trio.lab.network.inject(commit, at: two)
        try await trio.lab.settle()
        #expect(trio.bob.heard() == ["in the new epoch"])
        #expect(try await trio.bob.summary(of: trio.chat)?.epoch == 2)
    }

    @Test(arguments: UInt64(40)..<50)
    func concurrentAdminCommitsConverge(_ seed: UInt64) async throws {
        let lab = try GroupLab(seed: seed, relays: 1, schedule: .shuffled)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        guard case .done(let chat?) = try await alice.perform(.createChat(peer: bob.publicKey)) else {
            Issue.record("expected a chat")
            return
        }
        // Both commits are in flight before either is received.
        lab.network.onPublish { _ in .hold }
        let first = alice.begin(.renameGroup(chatID: chat, name: "by alice"))
        let second = bob.begin(.renameGroup(chatID: chat, name: "by bob"))
        try await lab.settle()
        #expect(lab.network.heldCount == 2)
        lab.network.deliverEverything()
        lab.network.release()
        try await lab.expectAgreement([alice, bob], in: chat)
        let outcomes = [alice.outcome(of: first), bob.outcome(of: second)]
        #expect(outcomes.allSatisfy { $0 != nil })
        try await alice.say("from alice", in: chat)
        try await bob.say("from bob", in: chat)
        #expect(alice.heard(in: chat) == ["from bob"])
        #expect(bob.heard(in: chat) == ["from alice"])
        // Both received the surviving commit, whichever of them lost.
        let name = try #require(try await alice.summary(of: chat)?.name)
        #expect(alice.commits.last?.newName == name)
        #expect(bob.commits.last?.newName == name)
        #expect(alice.commits.last?.id == bob.commits.last?.id)
        let loser = name == "by alice" ? bob : alice
        let lost = name == "by alice" ? outcomes[1] : outcomes[0]
        if case .failed(let error)? = lost {
            #expect(error.code == .displaced)
        } else {
            #expect(loser.commits.last?.rolledBack == true)
        }
    }
}
