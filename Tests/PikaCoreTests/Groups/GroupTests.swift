import BotTesting
import Nostr
import PikaCore
import Testing

@Suite struct GroupTests {
    @Test(arguments: [GroupLab.Schedule.inOrder, .shuffled])
    func threeMembersReceiveEachOthersMessages(_ schedule: GroupLab.Schedule) async throws {
        let lab = try GroupLab(seed: 1, relays: 2, schedule: schedule)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob, carol])
        try await alice.say("hi")
        try await bob.say("hello", in: chat)
        try await carol.say("good day", in: chat)
        #expect(alice.heard(in: chat) == ["hello", "good day"])
        #expect(bob.heard(in: chat) == ["hi", "good day"])
        #expect(carol.heard(in: chat) == ["hi", "hello"])
        try await lab.expectAgreement([alice, bob, carol], in: chat)
        let joined = bob.events.compactMap { if case .joined(let join) = $0.content { join } else { nil } }
        #expect(joined.map(\.inviter) == [alice.publicKey])
        #expect(joined.map(\.memberCount) == [3])
        let messages = try await bob.messages(in: chat)
        #expect(Set(messages.map(\.content)) == ["hi", "hello", "good day"])
        #expect(messages.filter(\.isOwn).map(\.delivery) == [.sent])
    }

    @Test func addedMemberReceivesLaterMessages() async throws {
        let lab = try GroupLab(seed: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.say("before")
        let before = try await lab.expectAgreement([alice, bob], in: chat)
        try await alice.add([carol])
        try await bob.say("after", in: chat)
        #expect(carol.heard(in: chat) == ["after"])
        #expect(try await lab.expectAgreement([alice, bob, carol], in: chat) == before + 1)
        let commit = try #require(bob.commits.last)
        #expect(commit.added == [carol.publicKey])
        #expect(commit.committer == alice.publicKey)
        #expect((commit.epochBefore, commit.epochAfter) == (before, before + 1))
        #expect(!commit.isOwn)
        #expect(alice.commits.last?.isOwn == true)
    }

    @Test func renameReachesAllMembers() async throws {
        let lab = try GroupLab(seed: 3)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.rename(to: "best friends")
        #expect(try await bob.summary(of: chat)?.name == "best friends")
        let commit = try #require(bob.commits.last)
        #expect((commit.oldName, commit.newName) == ("friends", "best friends"))
        #expect(commit.isRename)
    }

    @Test func onlyAdminsChangeGroup() async throws {
        let lab = try GroupLab(seed: 4)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        let outcome = try await bob.attempt(.renameGroup(chatID: chat, name: "mine"))
        guard case .failed(let error) = outcome else {
            Issue.record("unexpected outcome: \(String(describing: outcome))")
            return
        }
        #expect(error.code == .notAllowed)
        #expect(try await lab.expectAgreement([alice, bob], in: chat) == 1)
    }

    @Test func removedMemberReceivesNothingMore() async throws {
        let lab = try GroupLab(seed: 5)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob, carol])
        try await alice.remove([carol])
        try await bob.say("among us", in: chat)
        #expect(carol.heard(in: chat).isEmpty)
        #expect(carol.commits.last?.removedSelf == true)
        #expect(try await carol.summary(of: chat)?.isActive == false)
        #expect(alice.heard(in: chat) == ["among us"])
    }

    @Test func invitationRequiresKeyPackage() async throws {
        let lab = try GroupLab(seed: 6)
        let alice = try await lab.member("alice")
        var generator = SeededGenerator(seed: 99)
        let stranger = KeyPair.generate(using: &generator).publicKey
        let outcome = try await alice.attempt(.createGroupChat(name: "x", peers: [stranger]))
        guard case .failed(let error) = outcome else {
            Issue.record("unexpected outcome: \(String(describing: outcome))")
            return
        }
        #expect(error.code == .noKeyPackage)
        lab.network.takeDown(lab.relay)
        guard case .failed(let second) = try await alice.attempt(.createGroupChat(name: "x", peers: [stranger])) else {
            Issue.record("expected a group without relays to be refused")
            return
        }
        #expect(second.code == .noRelay)
        #expect(try await alice.state().busy.creatingChat == false)
    }

    @Test func toleratesRepeatedEvents() async throws {
        let lab = try GroupLab(seed: 7, relays: 3)
        lab.network.setRepeats(3)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        for number in 1...5 { try await alice.say("\(number)") }
        try await alice.rename(to: "again")
        try await bob.say("six", in: chat)
        #expect(bob.heard(in: chat) == (1...5).map(String.init))
        #expect(bob.events.filter { if case .message = $0.content { true } else { false } }.count == 5)
        #expect(bob.commits.count == 1)
        #expect(alice.heard(in: chat) == ["six"])
    }

    @Test func storeFailureEndsCore() async throws {
        let lab = try GroupLab(seed: 8)
        let alice = try await lab.member("alice")
        alice.store.failNextCommit()
        await #expect(throws: LabError(.memberFailed, "")) { try await alice.create("x", inviting: []) }
    }
}
