import BotTesting
import Nostr
import PikaCore
import Testing

/// Leaving, disappearing messages and key updates among complete cores, over time.
@Suite struct DepartureTests {
    @Test(arguments: UInt64(70)..<74)
    func groupConvergesWhileMembersLeave(_ seed: UInt64) async throws {
        let lab = try GroupLab(seed: seed, relays: 2, schedule: .shuffled)
        let alice = try await lab.member("alice")
        let others = ["bob", "carol", "dave", "erin"]
        var members: [LabMember] = []
        for name in others { members.append(try await lab.member(name)) }
        let chat = try await alice.create("friends", inviting: members)
        for leaver in members[2...] { leaver.begin(.leaveGroup(chatID: chat)) }
        try await alice.say("who is here?", in: chat)
        members[0].crash()
        try await lab.advance(by: .seconds(5))
        try await members[0].restart()
        try await lab.advance(by: .seconds(120))
        let stayed = [alice, members[0], members[1]]
        try await lab.expectAgreement(stayed, in: chat)
        for leaver in members[2...] {
            #expect(try await leaver.summary(of: chat)?.isActive == false)
            #expect(leaver.commits.last?.removedSelf == true)
        }
        #expect(try await alice.summary(of: chat)?.allMembers.count == 3)
        try await members[1].say("we are", in: chat)
        #expect(alice.heard() == ["we are"])
        #expect(members[0].heard() == ["who is here?", "we are"])
    }

    @Test func adminLeavesAndReturns() async throws {
        let lab = try GroupLab(seed: 80)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        guard case .done(let chat?) = try await alice.perform(.createChat(peer: bob.publicKey)) else {
            Issue.record("expected a chat")
            return
        }
        try await alice.perform(.leaveGroup(chatID: chat))
        try await lab.advance(by: .seconds(15))
        #expect(bob.commits.last?.left == [alice.publicKey])
        #expect(try await alice.summary(of: chat)?.isActive == false)
        try await bob.add([alice], to: chat)
        try await lab.expectAgreement([alice, bob], in: chat)
        try await alice.say("back", in: chat)
        #expect(bob.heard() == ["back"])
    }

    @Test func newMembersRenewKeysWithoutFork() async throws {
        let policy = SelfUpdatePolicy(afterJoining: .seconds(5) ... .seconds(20), every: nil)
        let lab = try GroupLab(seed: 81, schedule: .shuffled, selfUpdate: policy)
        let alice = try await lab.member("alice")
        var members: [LabMember] = []
        for number in 0..<5 { members.append(try await lab.member("member \(number)")) }
        let chat = try await alice.create("crowd", inviting: members)
        try await lab.advance(by: .seconds(600))
        #expect(try await lab.expectAgreement([alice] + members, in: chat) == 6)
        for member in members { #expect(member.commits.filter(\.isOwn).count == 1) }
    }

    @Test func disappearingMessagesDisappearEverywhere() async throws {
        let lab = try GroupLab(seed: 82)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.setDisappearingMessages(chatID: chat, seconds: 30))
        try await alice.say("gone soon", in: chat)
        #expect(try await bob.messages().map(\.content) == ["gone soon"])
        bob.crash()
        try await lab.advance(by: .seconds(31))
        try await bob.restart()
        try await lab.settle()
        for member in [alice, bob] { #expect(try await member.messages(in: chat).isEmpty) }
    }
}
