import Nostr
import Testing

@testable import PikaCore

/// Of two copies of an account on one relay, the earlier one ends.
@Suite struct FenceReducerTests {
    private func world() throws -> ReducerWorld {
        var world = try ReducerWorld.group(2)
        world.accounts[1].configuration.detectsCopies = true
        try world.restart(1)
        world.connect(1)
        world.settle()
        #expect(world.relayed.last { $0.kind == .applicationData }?.pubkey == world[1].key)
        world.now += 60_000
        return world
    }

    @Test func laterCopyEndsEarlierCopy() throws {
        var world = try self.world()
        let copy = world.copy(1)
        try world.restart(copy)
        world.connect(copy)
        world.settle()
        let failure = try #require(world[1].model.failure)
        #expect(failure.code == .superseded)
        #expect(failure.message.contains("another copy of this account was started at 2027-01-15T08:01:00Z"))
        #expect(world[copy].model.failure == nil)
        #expect(world[copy].model.state.relays.first?.gap?.unknown == 0)
        // It accepts no further actions.
        #expect(world.act(1, .clearToast).effects.isEmpty)
    }

    @Test func earlierCopyCannotRestart() throws {
        var world = try self.world()
        let copy = world.copy(1)
        try world.restart(copy)
        world.connect(copy)
        world.settle(offline: [1])
        try world.restart(1)
        world.say(1, "twice")
        #expect(world[1].publishing.allSatisfy { $0.event.kind != .groupEvent })
        world.connect(1)
        #expect(world[1].model.failure?.code == .superseded)
        #expect(world[1].publishing.allSatisfy { $0.event.kind != .groupEvent })
    }

    @Test func laterOfTwoRestoresContinues() throws {
        var world = try self.world()
        let first = world.copy(1)
        world.now += 1000
        let second = world.copy(1)
        for copy in [second, first] {
            try world.restart(copy)
            world.connect(copy)
            world.settle(offline: [1])
        }
        #expect(world[first].model.failure?.code == .superseded && world[second].model.failure == nil)
    }

    @Test func holdsGroupEventsUntilRelayIsRead() throws {
        var world = try self.world()
        try world.restart(1)
        world.say(1, "patience")
        #expect(world[1].publishing.contains { $0.event.kind == .keyPackage })
        #expect(world[1].publishing.allSatisfy { $0.event.kind != .groupEvent })
        world.connect(1)
        #expect(world[1].publishing.contains { $0.event.kind == .groupEvent })
        world.settle()
        #expect(world[0].texts == ["patience"])
    }

    @Test func ownEarlierRunsAreNotCopies() throws {
        var world = try self.world()
        // The same holds if the clock was set back.
        for step: Int64 in [1000, -50_000, 7000] {
            world.now += step
            try world.restart(1)
            world.connect(1)
            world.settle()
            #expect(world[1].model.failure == nil)
        }
        let times = world.relayed.filter { $0.kind == .applicationData }.map(\.createdAt)
        #expect(times.count == 4 && times == Set(times).sorted())
    }

    @Test func detectsManuallyCopiedDirectory() throws {
        var world = try self.world()
        let copy = world.copy(1)
        world.accounts[copy].durable.state.instance = world[1].durable.state.instance
        try world.restart(copy)
        world.connect(copy)
        world.settle()
        #expect(world[1].model.failure?.code == .superseded && world[copy].model.failure == nil)
    }

    @Test func republishesLostNotice() throws {
        var world = try self.world()
        let copy = world.copy(1)
        try world.restart(copy)
        world.connect(copy)
        world.settle(offline: [1])
        // The earlier copy starts on a relay that has lost the notice.
        world.relayed.removeAll { $0.kind == .applicationData }
        try world.restart(1)
        world.connect(1)
        world.settle()
        #expect(world[1].model.failure?.code == .superseded && world[copy].model.failure == nil)
    }

    @Test func ignoresForeignAndDamagedNotices() throws {
        var world = try self.world()
        let forged = UnsignedEvent(
            pubkey: world[1].key, createdAt: world.time, kind: .applicationData,
            tags: [Tag("d", CopyNotice.identifier)], content: "AAAA"
        ).signed(by: world[1].keys, using: &world.random)
        let foreign = try CopyNotice(StoredInstance(id: [9], generation: .max), startedAt: .max).event(
            by: world[0].keys, createdAt: world.time, using: &world.random)
        let notes = world[1].notes.count
        world.receive(1, forged)
        world.receive(1, foreign)
        #expect(world[1].model.failure == nil && world[1].notes.count == notes + 2)
    }

    @Test func sendsNoNoticesWhenDisabled() throws {
        var world = try ReducerWorld.group(2)
        world.connect(0)
        world.settle()
        #expect(!world.relayed.contains { $0.kind == .applicationData })
    }
}
