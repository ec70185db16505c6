import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// A wrong clock of this machine: nothing is lost, and operators are informed.
@Suite struct ClockReducerTests {
    /// A group of two: the first member commits and sends, and the second reads both with a wrong clock.
    private func world(
        receiving offset: Int64
    ) throws -> (world: ReducerWorld, events: [Event]) {
        var world = try ReducerWorld.group(2)
        let known = world.relayed.count
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "later"), "rename")
        world.settle(offline: [1])
        world.say(0, "hello")
        world.settle(offline: [1])
        let events = world.relayed.dropFirst(known).filter { $0.kind == .groupEvent }
        #expect(events.count == 2)
        world.now += offset * 1000
        for event in events { world.receive(1, event) }
        return (world, events)
    }

    private func hasReceivedMessage(_ world: ReducerWorld) -> Bool {
        world[1].texts == ["hello"] && world[1].group?.data.name == "later"
            && world[1].model.inbound.waiting.total.events == 0
    }

    @Test func eventsAheadOfTheClockWait() throws {
        var (world, events) = try self.world(receiving: -400)
        #expect(world[1].texts.isEmpty && world[1].notes.contains(.waiting(reason: "future_time")))
        #expect(world[1].notes.filter { if case .ahead = $0 { true } else { false } } == [.ahead(seconds: 400)])
        #expect(Set(world[1].durable.state.waiting.map(\.event.id)) == Set(events.map(\.id)))
        #expect(!world[1].durable.state.seen.contains { id in events.contains { $0.id == id } })
        world.advance(seconds: 99, offline: [0])
        #expect(world[1].texts.isEmpty)
        world.advance(seconds: 60, offline: [0])
        #expect(self.hasReceivedMessage(world))
    }

    /// A due event may wait for something else, such as a commit, so there is no polling.
    @Test func dueEventsAreNotPolled() throws {
        var early = EarlyEvents()
        let ids = try (1...2).map { try EventID(bytes: [UInt8](repeating: $0, count: 32)) }
        let groups = try (1...2).map { try #require(Bytes32([UInt8](repeating: $0, count: 32))) }
        early.insert(ids[0], under: groups[0], dueTime: 100)
        early.insert(ids[1], under: groups[1], dueTime: .distantFuture)
        #expect(early.nextWake(nowMilliseconds: 90_000) == 100_000)
        #expect(early.nextWake(nowMilliseconds: 90_000) == nil)
        early.woke()
        #expect(early.removeDue(now: 100) == [groups[0]] && early.count == 1)
        #expect(early.nextWake(nowMilliseconds: 100_000) == 100_000 + EarlyEvents.interval)
        early.woke()
        early.remove(ids[1])
        #expect(early.nextWake(nowMilliseconds: 130_000) == nil && early.removeDue(now: .distantFuture).isEmpty)
    }

    @Test func restartWithCorrectClockReadsEarlyEvents() throws {
        var (world, _) = try self.world(receiving: -400)
        world.now += 400_000
        try world.restart(1)
        #expect(self.hasReceivedMessage(world))
        world.say(0, "again")
        world.settle()
        #expect(world[1].texts == ["hello", "again"])
    }

    @Test func noticesCorrectedClock() throws {
        var (world, _) = try self.world(receiving: -90 * 86_400)
        #expect(world[1].model.inbound.waiting.earlyCount == 1)
        world.now += 90 * 86_400_000
        // A time scheduled by the old clock is reached soon, not in ninety days.
        let wake = world[1].timers.filter { $0.timer == .clock }.map(\.time).max()
        #expect(try #require(wake) <= ReducerWorld.start.milliseconds - 90 * 86_400_000 + 60_000)
        world.reduce(1, .timer(.clock))
        #expect(self.hasReceivedMessage(world))
    }

    @Test func fastClockLosesNoEvents() throws {
        var (world, events) = try self.world(receiving: 46 * 86_400)
        #expect(world[1].texts.isEmpty)
        #expect(!world[1].durable.state.seen.contains { id in events.contains { $0.id == id } })
        world.now -= 46 * 86_400_000
        for event in events { world.receive(1, event) }
        #expect(self.hasReceivedMessage(world))
    }

    // MARK: Comparing clocks

    private func warnings(_ world: ReducerWorld) -> [CoreNote] {
        world[1].notes.filter { if case .clock = $0 { true } else { false } }
    }

    @Test func relaysRevealWrongClock() throws {
        var world = try ReducerWorld.group(2)
        world.reduce(1, .relay(.clock(relay: ReducerWorld.relay, offset: 29)))
        #expect(self.warnings(world).isEmpty && world[1].notes.contains(.clockOffset(seconds: 29)))
        world.reduce(1, .relay(.clock(relay: ReducerWorld.relay, offset: 331)))
        world.reduce(1, .relay(.clock(relay: ReducerWorld.relay, offset: 330)))
        #expect(self.warnings(world) == [.clock(offset: 331, isOff: true)])
        world.reduce(1, .relay(.clock(relay: ReducerWorld.relay, offset: -1)))
        #expect(self.warnings(world).last == .clock(offset: -1, isOff: false))
    }

    @Test(arguments: [.min, .max] as [Int64])
    func absurdRelayTimesDoNotTrap(_ offset: Int64) throws {
        var world = try ReducerWorld.group(2)
        world.reduce(1, .relay(.clock(relay: ReducerWorld.relay, offset: offset)))
        world.reduce(1, .relay(.clock(relay: ReducerWorld.relay, offset: 0 &- offset)))
        #expect(!self.warnings(world).isEmpty)
    }

    @Test func membersRevealSlowClock() throws {
        var world = try ReducerWorld.group(2)
        world.now += 200_000
        for number in 0..<4 {
            world.say(0, "message \(number)")
            world.settle(offline: [1])
        }
        world.now -= 200_000
        for event in world.relayed.filter({ $0.kind == .groupEvent }) { world.receive(1, event) }
        #expect(world[1].texts.count == 4)
        // The messages of a burst are one second apart; the median of the first three counts.
        #expect(self.warnings(world) == [.clock(offset: 201, isOff: true)])
    }

    @Test func lateMessagesCauseNoClockWarning() throws {
        var world = try ReducerWorld.group(2)
        for number in 0..<4 {
            world.say(0, "message \(number)")
            world.settle(offline: [1])
        }
        world.now += 2_000_000
        for event in world.relayed.filter({ $0.kind == .groupEvent }) { world.receive(1, event) }
        #expect(world[1].texts.count == 4 && self.warnings(world).isEmpty)
    }
}
