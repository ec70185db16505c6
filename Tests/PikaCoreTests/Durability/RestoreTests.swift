import BotTesting
import Testing

@Suite struct RestoreTests {
    @Test func restoredMemberKeepsIdentityWithFreshKeys() async throws {
        let lab = try GroupLab(seed: 71, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob, carol])
        try await bob.say("one")
        let backup = bob.store.snapshot()
        // Everything after the backup is recovered, except a commit of this account.
        try await carol.say("two")
        try await alice.rename(to: "enemies")
        try await lab.advance(by: .seconds(600))
        bob.crash()
        try await alice.say("three")
        try await bob.restart(from: backup.restored(atMilliseconds: lab.clock.nowMilliseconds))
        try await bob.say("four")
        try await lab.advance(by: .seconds(2))
        try await alice.say("five")
        try await lab.advance(by: .seconds(60))
        #expect(alice.heard() == ["one", "two", "four"])
        #expect(carol.heard() == ["one", "three", "four", "five"])
        #expect(Array(bob.heard().suffix(3)) == ["two", "three", "five"])
        for member in [alice, bob, carol] {
            let summary = try await member.summary(of: chat)
            #expect(summary?.epoch == 3 && summary?.needsInvitation == false && summary?.name == "enemies")
        }
        #expect(try await bob.messages().map(\.content).suffix(2) == ["four", "five"])
        let renewal = try #require(bob.commits.last { $0.isOwn })
        #expect(renewal.epochBefore == 2 && renewal.added.isEmpty && !renewal.isRename)
    }

    @Test func plainCopyOfOlderStateRenewsKeys() async throws {
        let lab = try GroupLab(seed: 73, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await bob.say("one")
        let copy = bob.store.snapshot()
        try await bob.say("two")
        try await bob.say("three")
        try await lab.advance(by: .seconds(600))
        bob.crash()
        try await bob.restart(from: copy)
        try await lab.advance(by: .seconds(60))
        try await bob.say("four")
        try await lab.advance(by: .seconds(60))
        #expect(alice.heard() == ["one", "two", "three", "four"])
        let renewal = try #require(bob.commits.last { $0.isOwn })
        #expect(renewal.epochBefore == 1 && renewal.added.isEmpty)
        for member in [alice, bob] { #expect(try await member.summary(of: chat)?.epoch == 2) }
        #expect(lab.logLines.contains { $0.contains("it was rolled back or copied") })
    }

    @Test func reportsAbsenceGapAtEveryRelay() async throws {
        let lab = try GroupLab(seed: 72, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        try await alice.create("friends", inviting: [bob])
        try await alice.say("before")
        try await lab.advance(by: .seconds(3600))
        let departure = lab.clock.now
        bob.crash()
        for number in 0..<5 {
            try await lab.advance(by: .seconds(60))
            try await alice.say("\(number)")
        }
        try await bob.restart()
        let gaps = try await bob.state().relays.map(\.gap)
        #expect(gaps.count == 2 && gaps.allSatisfy { $0?.isRead == true && $0?.unknown == 0 })
        #expect(gaps.allSatisfy { ($0?.from ?? .distantFuture) <= departure && $0?.to == departure + 300 })
        // Each event counts where it was first read.
        #expect(gaps.compactMap { $0?.recovered }.max() == 5)
        #expect(lab.logLines.contains { $0.contains("a relay was read to the end after it connected") })
    }
}
