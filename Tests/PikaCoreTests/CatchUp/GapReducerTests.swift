import Nostr
import Testing

@testable import PikaCore

/// Every gap is reported: from, to, recovered, unknown.
@Suite struct GapReducerTests {
    private func world() throws -> ReducerWorld {
        var world = try ReducerWorld.group(2)
        world.connect(0)
        world.connect(1)
        world.settle()
        world.now += 60_000
        return world
    }

    private func gap(_ world: ReducerWorld) -> AppState.RelayGap? { world[1].model.state.relays.first?.gap }

    @Test func countsMissedEvents() throws {
        var world = try self.world()
        world.say(0, "known")
        world.settle()
        let cursor = try #require(world[1].model.catchUp.cursors.position(in: ReducerWorld.relay))
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .disconnected)))
        world.now += 600_000
        world.say(0, "a")
        world.say(0, "b")
        world.settle(offline: [1])
        world.now += 1000
        world.connect(1)
        let gap = try #require(self.gap(world))
        #expect(gap.from == cursor && gap.to == world.time && gap.isRead && gap.failedReads == 0)
        #expect(gap.recovered == 2 && gap.unknown == 0)
        #expect(world[1].notes.last { if case .gap = $0 { true } else { false } } == .gap(ReducerWorld.relay, gap))
        // The next absence is reported separately.
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .disconnected)))
        world.connect(1)
        #expect(self.gap(world)?.recovered == 0 && self.gap(world)?.isRead == true)
    }

    @Test func countsUnreadableEventsAsUnknownUntilOpened() throws {
        var world = try self.world()
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .disconnected)))
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "New"))
        world.settle(offline: [1])
        let commit = world.relayed.removeLast()
        world.say(0, "later")
        world.settle(offline: [1])
        world.connect(1)
        #expect(self.gap(world)?.recovered == 0 && self.gap(world)?.unknown == 1)
        world.receive(1, commit)
        #expect(self.gap(world)?.recovered == 1 && self.gap(world)?.unknown == 0)
        #expect(world[1].texts == ["later"])
    }

    @Test func reportsUnreadableRelayAsUnread() throws {
        var world = try self.world()
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .disconnected)))
        world.say(0, "a")
        world.settle(offline: [1])
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        for _ in 0..<2 {
            world.reduce(1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .failed("timeout")]))
        }
        #expect(self.gap(world)?.failedReads == 2 && self.gap(world)?.isRead == false)
        world.catchUp(1)
        #expect(self.gap(world)?.failedReads == 2 && self.gap(world)?.isRead == true)
        #expect(self.gap(world)?.recovered == 1)
    }
}
