import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// A state directory that was restored from a snapshot or a plain copy uses no message key twice.
@Suite struct StateRollbackReducerTests {
    /// Two members; the second's state is restored to the one before its last two messages.
    private func rolledBack() throws -> ReducerWorld {
        var world = try ReducerWorld.group(2)
        world.connect(0)
        world.accounts[1].configuration.detectsCopies = true
        try world.restart(1)
        world.connect(1)
        world.say(1, "one")
        world.settle()
        let saved = world[1].durable
        for text in ["two", "three"] {
            world.say(1, text)
            world.settle()
        }
        world.now += 60_000
        world.accounts[1].durable = saved
        return world
    }

    /// The keys of all application messages of account 1 that the relay holds, as account 0 sees them.
    private func keys(_ world: ReducerWorld) -> [MessagePlace] {
        let sender = world[1].group?.mls.ownLeafIndex
        return world.relayed.compactMap { world[0].group?.place(of: $0) }.filter { $0.sender == sender }
    }

    private func expectNoReuse(_ world: ReducerWorld, count: Int) {
        let keys = self.keys(world)
        #expect(keys.count == count && Set(keys).count == count)
    }

    @Test(arguments: [0, 1, 2, 3])
    func renewsKeysBeforeItSends(_ early: Int) throws {
        var world = try self.rolledBack()
        let instance = world[1].durable.state.instance
        try world.restart(1)
        // Sealed with the keys that were used for "two" and "three".
        let texts = (0..<early).map { "early \($0)" }
        for text in texts { world.say(1, text) }
        world.settle()
        #expect(world[0].texts == ["one", "two", "three"])
        world.connect(1)
        #expect(world[1].notes.contains(.stateRolledBack(groups: 1)))
        let events = world[1].publishing.filter { $0.event.kind == .groupEvent }
        #expect(events.count == 1 && events.first?.row.hasPrefix("commit/") == true)
        world.settle()
        world.say(1, "late")
        world.settle()
        #expect(world[0].texts == ["one", "two", "three"] + texts + ["late"])
        #expect(world[0].group?.epoch == 2 && world[1].group?.epoch == 2)
        self.expectNoReuse(world, count: 3 + early + 1)
        let renewed = world[1].durable.state.instance
        #expect(renewed.id != instance.id && renewed.generation == world.now && !renewed.isRestored)
    }

    @Test(arguments: [0, 1, 2, 3])
    func renewsKeysOfSecondGeneration(_ early: Int) throws {
        var world = try SettlementReducerTests.world(2)
        world.connect(0)
        world.accounts[1].configuration.detectsCopies = true
        try world.restart(1)
        world.connect(1)
        world.say(1, "one")
        world.settle()
        let saved = world[1].durable
        for text in ["two", "three"] {
            world.say(1, text)
            world.settle()
        }
        world.now += 60_000
        world.accounts[1].durable = saved
        try world.restart(1)
        let texts = (0..<early).map { "early \($0)" }
        for text in texts { world.say(1, text) }
        world.settle()
        #expect(world[0].texts == ["one", "two", "three"])
        world.connect(1)
        #expect(world[1].notes.contains(.stateRolledBack(groups: 1)))
        world.advance(seconds: 6)
        // Members treat a message with a used key as a duplicate.
        #expect(world[0].texts.sorted() == (["one", "two", "three"] + texts).sorted())
    }

    @Test func crashBeforeCommitChangesNothing() throws {
        var world = try self.rolledBack()
        try world.restart(1)
        world.say(1, "early")
        world.connect(1)
        try world.restart(1)
        world.say(1, "later")
        world.connect(1)
        world.settle()
        #expect(world[0].texts == ["one", "two", "three", "early", "later"] && world[0].group?.epoch == 2)
        self.expectNoReuse(world, count: 5)
        #expect(world[1].notes.count { $0 == .stateRolledBack(groups: 1) } == 1)
    }

    @Test func replacesKeyPackages() throws {
        var world = try self.rolledBack()
        let before = world[1].durable.state.keyPackages.count
        try world.restart(1)
        world.connect(1)
        #expect(world[1].durable.state.keyPackages.count == before + 2, "one of each generation")
    }

    @Test func intactStateSendsWithoutCommit() throws {
        var world = try ReducerWorld.group(2)
        world.connect(0)
        world.accounts[1].configuration.detectsCopies = true
        for text in ["one", "two", "three"] {
            let instance = world[1].durable.state.instance
            try world.restart(1)
            world.say(1, text)
            #expect(world[1].publishing.allSatisfy { $0.event.kind != .groupEvent })
            world.connect(1)
            world.settle()
            #expect(world[1].durable.state.instance == instance)
        }
        #expect(world[0].texts == ["one", "two", "three"] && world[0].group?.epoch == 1)
        self.expectNoReuse(world, count: 3)
    }

    @Test func unreadableRelayDoesNotBlockRenewalForever() throws {
        var world = try self.rolledBack()
        try world.restart(1)
        world.say(1, "patience")
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        for _ in 0..<ReadRetries.attempts {
            #expect(world[1].publishing.allSatisfy { $0.event.kind != .groupEvent })
            world.reduce(1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .failed("timeout")]))
            world.reduce(1, .timer(.catchUp(ReducerWorld.relay)))
        }
        #expect(world[1].model.convergence.stateRollback.isOpen)
    }
}
