import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Proposals of other members, as events for handlers.
@Suite struct ProposalReducerTests {
    private func proposals(_ world: ReducerWorld, _ index: Int) -> [ProposalEvent] {
        world[index].delivered.compactMap {
            if case .proposal(let proposal) = $0.content { proposal } else { nil }
        }
    }

    @Test func reportsDepartureBeforeItsCommit() throws {
        var world = try ReducerWorld.group(3)
        let epoch = try #require(world[0].group?.epoch)
        world.act(2, .leaveGroup(chatID: world[2].chatID), "leave")
        world.settle()
        for index in 0...1 {
            let found = self.proposals(world, index)
            #expect(found.map(\.sender) == [world[2].key])
            #expect(found.allSatisfy { $0.isDeparture && $0.epoch == epoch.rawValue && $0.role == .member })
            #expect(world[index].commits.last?.left != [world[2].key])
        }
        #expect(self.proposals(world, 2).isEmpty)
        world.advance(seconds: 11)
        for index in 0...1 {
            #expect(world[index].commits.last?.left == [world[2].key])
            #expect(self.proposals(world, index).count == 1)
        }
    }

    @Test func secondGenerationReportsDepartureOnce() throws {
        var world = try SettlementReducerTests.world(3)
        world.act(2, .leaveGroup(chatID: world[2].chatID), "leave")
        world.settle()
        world.advance(seconds: 6)
        for index in 0...1 {
            let found = self.proposals(world, index)
            #expect(found.map(\.sender) == [world[2].key])
            #expect(found.allSatisfy { $0.isDeparture && $0.role == .member })
            #expect(world[index].commits.last?.left == [world[2].key])
        }
        #expect(self.proposals(world, 2).isEmpty)
    }

    @Test func repeatedEventIsReportedOnce() throws {
        var world = try SettlementReducerTests.world(3)
        var leaver = try #require(world[2].second?.tip)
        let time = world.time
        let departure = try leaver.leave(now: time, using: &world.random)
        world.receive(0, departure.event)
        world.receive(0, departure.event)
        world.advance(seconds: 6)
        let found = self.proposals(world, 0)
        #expect(found.map(\.id) == [departure.event.id])
    }
}
