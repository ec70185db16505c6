import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Renewing keys after joining and by age (MIP-02).
@Suite struct KeyUpdateReducerTests {
    private static let policy = SelfUpdatePolicy(afterJoining: .seconds(5) ... .seconds(60), every: .seconds(604_800))

    /// All relays are connected and read.
    private func world(
        _ count: Int, _ policy: SelfUpdatePolicy = policy, _ groupProtocol: GroupProtocol = .v1
    ) throws -> ReducerWorld {
        var world = try ReducerWorld(count, selfUpdate: policy, groupProtocol: groupProtocol)
        for index in 0..<count {
            world.reduce(index, .started)
            world.reduce(index, .relay(.state(relay: ReducerWorld.relay, .connected)))
        }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: world.accounts.dropFirst().map(\.key)), "create")
        world.settle()
        #expect(world.accounts.allSatisfy { $0.model.groups.count == 1 })
        return world
    }

    private func renewals(_ world: ReducerWorld, _ index: Int) -> Int {
        world[index].commits.filter { $0.isOwn && $0.added.isEmpty && $0.removed.isEmpty }.count
    }

    @Test func renewsKeysOnceAfterJoining() throws {
        var world = try self.world(4)
        let leaf = world[1].group?.mls.ownLeaf
        world.advance(seconds: 4)
        #expect(world[0].group?.epoch == 1)
        world.advance(seconds: 600)
        for index in 1...3 { #expect(self.renewals(world, index) == 1, "\(index)") }
        // The founder's keys are new.
        #expect(self.renewals(world, 0) == 0)
        #expect(world[1].group?.mls.ownLeaf.signatureKey != leaf?.signatureKey)
        #expect(Set(world.accounts.map { $0.group?.epoch }) == [4])
        world.advance(seconds: 86_400)
        #expect(Set(world.accounts.map { $0.group?.epoch }) == [4])
    }

    @Test func renewsOldKeysAfterRestart() throws {
        var world = try self.world(2, SelfUpdatePolicy(afterJoining: nil, every: .seconds(604_800)))
        world.advance(seconds: 604_700)
        #expect(world[0].group?.epoch == 1)
        try world.restart(1)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.advance(seconds: 400)
        // Both were due at the same time; the losing commit may have been applied before the winning one arrived.
        #expect((1...2).contains(self.renewals(world, 0)) && self.renewals(world, 1) == 1)
        #expect(world[0].group?.epoch == 3)
        world.advance(seconds: 604_000)
        #expect(world[0].group?.epoch == 3)
        // Any commit of this account renews the keys.
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "n"))
        world.advance(seconds: 3000)
        #expect(self.renewals(world, 1) == 2 && world[0].group?.epoch == 5)
    }

    @Test func policyNeverDisablesRenewal() throws {
        var world = try self.world(3, .never)
        world.advance(seconds: 3 * 604_800)
        #expect(world[0].group?.epoch == 1 && world[1].timers.allSatisfy { $0.timer != .keyUpdates })
        #expect(world[1].durable.state.memos.keys.allSatisfy { $0.kind != .keyAge })
    }

    @Test func renewsOnlyWhileConnected() throws {
        var world = try self.world(2)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .disconnected)))
        world.advance(seconds: 1000)
        #expect(world[1].group?.epoch == 1 && world[1].group?.pending == nil)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.advance(seconds: 130)
        #expect(self.renewals(world, 1) == 1 && world[0].group?.epoch == 2)
    }

    @Test func boundsRetriesOfDisplacedRenewal() throws {
        var random = SplitMix64(seed: 3)
        let now: Int64 = 1_800_000_000_000
        var age = KeyAge(notBefore: now)
        var earliest: Int64 = 0
        for attempt in 1..<KeyAge.maximumAttempts {
            age = age.displaced(at: now, Self.policy, using: &random)
            #expect(age.attempts == attempt)
            let delay = try #require(age.due(Self.policy)) - now
            earliest = 5000 << Int64(attempt)
            #expect((earliest...60_000 << Int64(attempt)).contains(delay))
        }
        age = age.displaced(at: now, Self.policy, using: &random)
        #expect(age.due(Self.policy) == now + 604_800_000 && age.attempts == 0)
        var only = KeyAge(notBefore: now, attempts: KeyAge.maximumAttempts - 1)
        let joining = SelfUpdatePolicy(afterJoining: .seconds(1) ... .seconds(1), every: nil)
        only = only.displaced(at: now, joining, using: &random)
        #expect(only.due(joining) == nil)
        #expect(KeyAge(renewedAt: 5).due(joining) == nil)
        for age in [age, only, KeyAge(renewedAt: 5, notBefore: 7, attempts: 2), KeyAge(notBefore: 7, quietUntil: 9)] {
            #expect(KeyAge(age.stored) == age)
        }
    }

    @Test func joinersOfSecondGenerationTakeTurns() throws {
        var world = try self.world(8, Self.policy, .v2)
        world.advance(seconds: 60)
        #expect(Set(world.accounts.map { $0.second?.tip.epoch }) == [1], "not before the group is quiet")
        world.advance(seconds: 7200)
        #expect(Set(world.accounts.map { $0.second?.tip.epoch }) == [8], "one renewal of each joiner")
        for index in 1..<8 { #expect(self.renewals(world, index) == 1, "\(index)") }
        #expect(world.accounts.allSatisfy { $0.commits.allSatisfy { !$0.rolledBack } }, "no fork")
    }

    @Test func joinersTakeTurnsAfterOutage() throws {
        var world = try self.world(6, Self.policy, .v2)
        for index in 0..<6 { world.reduce(index, .relay(.state(relay: ReducerWorld.relay, .disconnected))) }
        world.advance(seconds: 1200)
        #expect(Set(world.accounts.map { $0.second?.tip.epoch }) == [1])
        for index in 0..<6 { world.reduce(index, .relay(.state(relay: ReducerWorld.relay, .connected))) }
        world.advance(seconds: 7200)
        #expect(Set(world.accounts.map { $0.second?.tip.epoch }) == [6])
        #expect(world.accounts.allSatisfy { $0.commits.allSatisfy { !$0.rolledBack } }, "no fork")
    }

    @Test func quietTimeSurvivesRestart() throws {
        var world = try self.world(3, Self.policy, .v2)
        try world.restart(1)
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.advance(seconds: 60)
        #expect(world[1].second?.tip.epoch == 1)
        world.advance(seconds: 3600)
        #expect(self.renewals(world, 1) == 1 && world[0].second?.tip.epoch == 3)
    }

    @Test func allSimultaneousJoinersRenewEventually() throws {
        var world = try self.world(12)
        world.advance(seconds: 3600)
        for index in 1..<12 { #expect(self.renewals(world, index) == 1, "\(index)") }
        #expect(Set(world.accounts.map { $0.group?.epoch }) == [12])
    }
}
