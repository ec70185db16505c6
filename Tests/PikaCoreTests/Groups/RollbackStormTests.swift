import BotTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// A member that keeps publishing back-dated self-updates.
@Suite struct RollbackStormTests {
    /// Three honest accounts, and one whose keys an attacker holds.
    private struct Scene {
        let lab: GroupLab
        let alice: LabMember
        let bob: LabMember
        let carol: LabMember
        let mallory: PublicKey
        let chat: ChatID
        var attacker: BackDater

        init(seed: UInt64, depth: Int = 1) async throws {
            self.lab = try GroupLab(seed: seed)
            self.alice = try await self.lab.member("alice")
            self.bob = try await self.lab.member("bob")
            self.carol = try await self.lab.member("carol")
            let mallory = try await self.lab.member("mallory")
            self.chat = try await self.alice.create("lab", inviting: [self.bob, self.carol, mallory])
            self.mallory = mallory.publicKey
            self.attacker = BackDater(try #require(try await mallory.storedGroups().first), depth: depth)
            mallory.crash()
        }

        /// Lets the attacker answer the relay's events `rounds` times.
        mutating func attack(rounds: Int, every duration: Duration = .seconds(60)) async throws {
            for _ in 0..<rounds {
                let now = self.lab.clock.now
                for event in try self.attacker.answer(self.lab.network.events(at: self.lab.relay), now: now) {
                    self.lab.network.inject(event, at: self.lab.relay)
                }
                try await self.lab.advance(by: duration)
            }
        }

        /// The group events that a member has published.
        func published(by name: String) -> Int {
            let all = self.lab.network.publications.filter {
                $0.publication.sender == name && $0.publication.event.kind == .groupEvent
            }
            return Set(all.map(\.publication.event.id)).count
        }

        func record(of member: LabMember) async throws -> RollbackRecord {
            let memos = try await member.store.load().memos.filter { $0.key.kind == .rollbacks }
            return try #require(memos.values.first.flatMap { RollbackRecord($0) })
        }

        func expectAgreement() async throws {
            var states: Set<[UInt8]> = []
            for member in [self.alice, self.bob, self.carol] {
                let group = try #require(try await member.storedGroups().first)
                states.insert(group.mls.epochAuthenticator.copyBytes() + group.mls.groupID.bytes)
                #expect(group.isActive)
            }
            #expect(states.count == 1)
        }
    }

    @Test(arguments: [1, 3]) func boundsReactionToRepeatedBackDating(depth: Int) async throws {
        var scene = try await Scene(seed: 41, depth: depth)
        let before = scene.published(by: "alice")
        try await scene.alice.rename(scene.chat, to: "renamed")
        for _ in 1..<depth { try await scene.bob.perform(.updateGroupKeys(chatID: scene.chat)) }
        try await scene.attack(rounds: 90)
        let rollbacks = scene.attacker.answerCount
        #expect(depth * rollbacks >= Intents.maximumLosses)
        // The attacker would still answer, but the others no longer commit.
        #expect(scene.published(by: "alice") - before <= Intents.maximumLosses + 1)
        try await scene.attack(rounds: 10)
        #expect(scene.attacker.answerCount == rollbacks)
        // Of several commits a round, the last one of alice may survive.
        let isRenamed = try await scene.alice.summary(of: scene.chat)?.name == "renamed"
        let isAbandoned = try await scene.alice.state().toast == AppCoreError.contested.message
        #expect(isAbandoned || (isRenamed && depth > 1))
        #expect(try await scene.alice.state().busy == .init())
        try await scene.expectAgreement()

        let tally = try #require(try await scene.record(of: scene.alice).tally(of: scene.mallory))
        #expect(tally.role == .member && tally.count == rollbacks)
        // Fewer and deeper rollbacks do not count as a storm.
        guard rollbacks >= RollbackRecord.stormThreshold else { return }
        let storms = try await scene.record(of: scene.bob).reportedStorms(
            now: scene.lab.clock.now)
        #expect(storms.map(\.committer) == [scene.mallory])
        #expect(
            scene.lab.logLines.contains { $0.contains("repeatedly undoes") && $0.contains(scene.mallory.hex.prefix(8)) }
        )
    }

    @Test func removedMemberCannotKeepOthersBusy() async throws {
        var scene = try await Scene(seed: 42)
        let before = scene.published(by: "alice")
        let outcome = try await scene.alice.perform(
            .removeGroupMembers(chatID: scene.chat, peers: [scene.mallory]))
        #expect(outcome == .done(chatID: scene.chat))
        try await scene.attack(rounds: 90)
        #expect(scene.published(by: "alice") - before <= Intents.maximumLosses + 1)
        #expect(try await scene.alice.state().toast == AppCoreError.contested.message)
        let tally = try #require(try await scene.record(of: scene.carol).tally(of: scene.mallory))
        #expect(tally.role == .removed && tally.count >= Intents.maximumLosses)
        try await scene.expectAgreement()
    }

    @Test func removalSurvivesAttack() async throws {
        var scene = try await Scene(seed: 43)
        try await scene.alice.remove([scene.carol], from: scene.chat)
        _ = try await scene.alice.say("during the storm", in: scene.chat)
        try await scene.attack(rounds: 4, every: .seconds(5))
        try await scene.lab.advance(by: .seconds(600))
        for member in [scene.alice, scene.bob] {
            let group = try #require(try await member.storedGroups().first)
            #expect(!group.members.contains(scene.carol.publicKey))
        }
        #expect(scene.bob.heard(in: scene.chat) == ["during the storm"])
        // One attack is an ordinary lost race and no storm.
        #expect(!scene.lab.logLines.contains { $0.contains("repeatedly undoes") })
    }

    /// Catching up requests only events dated after the last one read. A later full read finds the commit, because
    /// events of the group remain unopened.
    @Test func absentMemberFindsBackDatedCommit() async throws {
        let scene = try await Scene(seed: 45)
        try await scene.alice.rename(scene.chat, to: "renamed")
        scene.carol.crash()
        var group = scene.attacker.group
        var random = SeededGenerator(seed: 45)
        let time = scene.lab.clock.now - 172_800
        let commit = try group.commit(.selfUpdate, client: "hostile", now: time, using: &random)
        #expect(commit.event.createdAt == time)
        scene.lab.network.inject(commit.event, at: scene.lab.relay)
        try await scene.lab.advance(by: .seconds(60))
        try await scene.carol.restart()
        _ = try await scene.alice.say("on the new branch", in: scene.chat)
        try await scene.lab.advance(by: .seconds(60))
        #expect(scene.carol.heard(in: scene.chat) == [])
        try await scene.lab.advance(by: .seconds(21_600))
        #expect(scene.carol.heard(in: scene.chat) == ["on the new branch"])
        try await scene.expectAgreement()
    }

    @Test func ownMessagesAreNotResentPerRollback() async throws {
        var scene = try await Scene(seed: 44)
        try await scene.bob.perform(.updateGroupKeys(chatID: scene.chat))
        for number in 0..<20 { _ = try await scene.alice.say("\(number)", in: scene.chat) }
        let before = scene.published(by: "alice")
        try await scene.attack(rounds: 60)
        let resends = scene.published(by: "alice") - before
        #expect(scene.attacker.answerCount >= Intents.maximumLosses)
        // Each of the twenty messages is resent a few times at most, not once per rollback.
        #expect(resends <= 20 * (Intents.maximumLosses + 1))
        try await scene.lab.advance(by: .seconds(700))
        #expect(Set(scene.carol.heard(in: scene.chat)) == Set((0..<20).map(String.init)))
        try await scene.expectAgreement()
    }

    @Test func leavesTheGroupWhenConfigured() throws {
        var world = try ReducerWorld.group(3)
        world.accounts[1].model.configuration.onRollbackStorm = .leave
        let chat = world[0].chatID
        var attacker = BackDater(try #require(world[2].group))
        world.act(0, .renameGroup(chatID: chat, name: "renamed"), "rename")
        for _ in 0..<30 where attacker.answerCount < RollbackRecord.stormThreshold {
            #expect(!world[1].model.intents.all.contains { $0.goal == .leave })
            world.advance(seconds: 100, offline: [2])
            for event in try attacker.answer(world.relayed, now: world.time) {
                world.relayed.append(event)
                for index in 0..<2 { world.receive(index, event) }
            }
        }
        #expect(attacker.answerCount == RollbackRecord.stormThreshold)
        #expect(world[1].model.intents.all.contains { $0.goal == .leave })
        #expect(!world[0].model.intents.all.contains { $0.goal == .leave })
        #expect(
            world[1].notes.contains(.rollbackStorm(chatID: chat, committer: world[2].key, .member)))
        // The attacker gives up, and the departure is committed.
        world.advance(seconds: 2000, offline: [2])
        #expect(world[0].group?.members.contains(world[1].key) == false)
        #expect(world[1].group?.isActive == false)
    }

    @Test func backOffSurvivesARestart() throws {
        var world = try ReducerWorld.group(3)
        var attacker = BackDater(try #require(world[2].group))
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "renamed"), "rename")
        world.settle(offline: [2])
        // Each answer of the attacker undoes a commit, which is retried: at once the first time, then with delays.
        for _ in 0..<3 {
            for event in try attacker.answer(world.relayed, now: world.time) {
                world.relayed.append(event)
                for index in 0..<2 { world.receive(index, event) }
            }
            world.settle(offline: [2])
            world.advance(seconds: 1, offline: [2])
        }
        let intent = try #require(world[0].model.intents.all.first)
        #expect(intent.losses > 1)
        try world.restart(0)
        #expect(world[0].model.intents.all.first?.losses == intent.losses)
        let tally = world[0].model.convergence.rollbacks.tally(of: world[2].key, in: intent.groupID)
        #expect(tally?.count == attacker.answerCount)
        world.connect(0)
        world.advance(seconds: 900, offline: [2])
        #expect(world[0].group?.data.name == "renamed" && world[1].group?.data.name == "renamed")
    }
}
