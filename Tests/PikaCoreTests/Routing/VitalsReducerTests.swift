import Marmot
import Nostr
import Testing

@testable import PikaCore

/// The core's report of its own progress.
@Suite struct VitalsReducerTests {
    private func vitals(_ account: Int, of world: inout ReducerWorld) -> CoreVitals? {
        let step = world.reduce(account, .queryVitals(7))
        // The answer follows a write.
        guard case .putValue(CoreModel.vitalsScope, _, _?) = step.changes.last else { return nil }
        for case .answerVitals(7, let vitals) in step.effects { return vitals }
        return nil
    }

    @Test func idleAccountHasNoBacklog() throws {
        var world = try ReducerWorld.group(2)
        world.settle()
        let vitals = try #require(vitals(1, of: &world))
        #expect(vitals.groupCount == 1)
        #expect(vitals.outboxDepth == 0)
        #expect(vitals.oldestOutboxAt == nil)
        #expect(vitals.deadLetters == 0)
        #expect(vitals.announcesKeyPackage)
        #expect(vitals.keyPackageEndsAt == world[1].durable.state.keyPackages.last?.notAfter)
        #expect(vitals.state.hasPublishedKeyPackage)
    }

    @Test func parkedEventsAreCounted() throws {
        var world = try ReducerWorld.group(2)
        world.settle()
        #expect(vitals(1, of: &world)?.parked == ParkedEvents())
        let junk = UnsignedEvent(
            pubkey: world[0].key, createdAt: world.time, kind: .groupEvent,
            tags: [Nostr.Tag("h", world[1].group?.data.nostrGroupIDHex ?? "")],
            content: Base64.encode([UInt8](repeating: 7, count: 60))
        ).signed(by: world[0].keys, using: &world.random)
        world.receive(1, junk)
        var parked = try #require(vitals(1, of: &world)?.parked)
        #expect(parked.waiting == 1 && parked.waitingBytes == junk.parkedBytes && parked.trials == 0)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "next"), "rename")
        world.settle()
        parked = try #require(vitals(1, of: &world)?.parked)
        #expect(parked.waiting == 1 && parked.trials == 1, "the new epoch's key must be tried once")
    }

    @Test func countsUnhandledEventsInInbox() throws {
        var world = try ReducerWorld.group(2)
        world.settle()
        for event in world[1].delivered { world.reduce(1, .handled(inboxID: event.inboxID, [])) }
        world.accounts[1].delivered = []
        #expect(vitals(1, of: &world)?.inboxDepth == 0)
        world.say(0, "one")
        world.say(0, "two")
        world.settle()
        let waiting = try #require(vitals(1, of: &world))
        #expect(waiting.inboxDepth == 2)
        #expect(waiting.oldestInboxAt == world[1].delivered.first?.receivedAt)
        for event in world[1].delivered { world.reduce(1, .handled(inboxID: event.inboxID, [])) }
        #expect(vitals(1, of: &world)?.oldestInboxAt == nil)
    }

    @Test func datesOutboxFromEnqueueOrStart() throws {
        var world = try ReducerWorld.group(2)
        world.settle()
        world.say(0, "one")
        let waiting = try #require(vitals(0, of: &world))
        #expect(waiting.outboxDepth == 1)
        #expect(waiting.oldestOutboxAt == waiting.takenAt)
        try world.restart(0)
        let restarted = try #require(vitals(0, of: &world))
        #expect(restarted.outboxDepth >= 1)
        #expect(restarted.oldestOutboxAt == restarted.takenAt)
        world.settle()
        #expect(vitals(0, of: &world)?.outboxDepth == 0)
    }

    @Test func notesTimeOfFirstRelayAcceptance() throws {
        var world = try ReducerWorld.group(2)
        world.settle()
        world.accounts[0].notes = []
        world.say(0, "one")
        world.settle()
        #expect(world[0].notes.filter { if case .sent = $0 { true } else { false } } == [.sent(milliseconds: 0)])
    }
}
