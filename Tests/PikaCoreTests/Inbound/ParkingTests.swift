import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// A stranger floods a group through its public `h` tag, and the account with gift wraps.
@Suite struct ParkingTests {
    private func junk(_ number: Int, _ world: inout ReducerWorld, bytes: Int = 60) -> Event {
        let signer = KeyPair.generate(using: &world.random)
        return UnsignedEvent(
            pubkey: signer.publicKey, createdAt: world.time, kind: .groupEvent,
            tags: [Nostr.Tag("h", world[1].group?.data.nostrGroupIDHex ?? "")],
            content: Base64.encode(withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: 1, count: bytes))
        ).signed(by: signer, using: &world.random)
    }

    /// Each waiting event is tried once per key, even if an abandoned branch is tried as well.
    @Test func triesEachWaitingEventOncePerKey() throws {
        let (events, commits) = (1000, 50)
        var world = try ReducerWorld.group(3)
        // A rollback leaves an abandoned branch, on which every waiting event is tried.
        var attacker = BackDater(try #require(world[2].group))
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "lost"), "lost")
        world.settle(offline: [2])
        for event in try attacker.answer(world.relayed, now: world.time) {
            for index in 0..<2 { world.receive(index, event) }
        }
        world.settle(offline: [2])
        let groupID = try #require(world[1].group?.groupID)
        #expect(world[1].model.convergence.branches.trialCount(of: groupID) != nil)
        for number in 0..<events { world.receive(1, self.junk(number, &world)) }
        #expect(world[1].durable.state.waiting.count == events)
        // Each event is tried once with each of the branch's keys.
        let branchTrials = try #require(world[1].model.convergence.branches.trialCount(of: groupID))
        #expect(branchTrials <= events * (MarmotProfile.mip.pastEpochs + 1))
        #expect(world[1].model.inbound.waiting.trialCount(of: groupID) == 0)
        for number in 0..<commits {
            world.now += 1000
            world.act(0, .renameGroup(chatID: world[0].chatID, name: "\(number)"), "\(number)")
            world.settle(offline: [2])
        }
        #expect(world[1].group?.data.name == "\(commits - 1)")
        #expect(world[1].model.inbound.waiting.trialCount(of: groupID) <= events * commits)
        #expect(world[1].durable.state.waiting.count == events)
    }

    /// Fifty commits that arrive in reverse order are applied, although each makes only one other applicable.
    @Test func reversedCommitsAreAppliedWithBoundedTrials() throws {
        var world = try ReducerWorld.group(2)
        let groupID = try #require(world[1].group?.groupID)
        let known = world.relayed.count
        for number in 0..<50 {
            world.now += 1000
            world.act(0, .renameGroup(chatID: world[0].chatID, name: "\(number)"), "\(number)")
            world.settle(offline: [1])
        }
        let missed = Array(world.relayed[known...])
        #expect(missed.count == 50)
        for event in missed.reversed() { world.receive(1, event) }
        #expect(world[1].group?.data.name == "49" && world[1].durable.state.waiting.isEmpty)
        #expect(world[1].model.inbound.waiting.trialCount(of: groupID) <= 50 * 50)
    }

    @Test func parkedBytesStayWithinTheBudget() throws {
        var world = try ReducerWorld.group(2)
        for number in 0..<160 { world.receive(1, self.junk(number, &world, bytes: 60_000)) }
        let bytes = world[1].durable.state.waiting.reduce(0) { $0 + $1.event.content.utf8.count }
        #expect(bytes <= PendingEvents.standardGroup.bytes)
        #expect(world[1].durable.state.waiting.count >= 90)
        #expect(world[1].notes.contains(.droppedWaiting))
        // A restart does not restore more either.
        try world.restart(1)
        #expect(world[1].model.inbound.waiting.total.bytes <= PendingEvents.standardGroup.bytes)
    }

    @Test func junkNeverEvictsOpenableEvents() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createChat(peer: world[1].key), "create")
        world.settle()
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "worse"), "rename")
        world.now += 5000
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "other"), "rename")
        let waiting = try #require(world[0].publishing.last).event
        world.receive(1, waiting)
        #expect(world[1].durable.state.waiting.map(\.event.id) == [waiting.id])
        for number in 0...PendingEvents.standardGroup.events { world.receive(1, self.junk(number, &world)) }
        #expect(world[1].durable.state.waiting.count == PendingEvents.standardGroup.events)
        #expect(world[1].durable.state.waiting.contains { $0.event.id == waiting.id })
    }

    /// Junk that arrives while older events are being read must not release held genuine events.
    @Test func heldJunkDoesNotReleaseGenuineEvents() throws {
        var world = try ReducerWorld.group(2)
        world.now += 1000
        world.say(0, "live")
        world.settle(offline: [1])
        world.reduce(1, .relay(.state(relay: ReducerWorld.relay, .connected)))
        world.receive(1, try #require(world.relayed.last))
        #expect(world[1].texts.isEmpty && world[1].model.catchUp.heldCount == 1)
        for number in 0...HeldLiveEvents.standard.events { world.receive(1, self.junk(number, &world)) }
        #expect(world[1].texts.isEmpty && world[1].model.catchUp.heldCount < HeldLiveEvents.standard.events)
        #expect(world[1].model.inbound.waiting.total.events <= PendingEvents.standardGroup.events)
        world.catchUp(1)
        #expect(world[1].texts == ["live"])
    }

    // MARK: Ids

    @Test func remembersRefusedEventsSeparately() throws {
        var world = try ReducerWorld.group(2)
        let signer = KeyPair.generate(using: &world.random)
        let event = UnsignedEvent(
            pubkey: signer.publicKey, createdAt: world.time, kind: .groupEvent,
            tags: [Nostr.Tag("h", world[1].group?.data.nostrGroupIDHex ?? "")], content: "no Base64!"
        ).signed(by: signer, using: &world.random)
        let wrap = UnsignedEvent(
            pubkey: signer.publicKey, createdAt: world.time, kind: .giftWrap,
            tags: [Nostr.Tag("p", world[1].key.hex)], content: "no gift"
        ).signed(by: signer, using: &world.random)
        for stranger in [event, wrap] {
            let step = world.reduce(
                1, .relay(.event(relay: ReducerWorld.relay, subscription: "groups", stranger)))
            #expect(step.changes.contains { if case .putRefused(stranger.id, _) = $0 { true } else { false } })
            #expect(!step.changes.contains { if case .putSeen = $0 { true } else { false } })
            #expect(world[1].model.inbound.seen.contains(stranger.id))
        }
        try world.restart(1)
        #expect(world[1].model.inbound.seen.contains(event.id) && world[1].model.inbound.seen.contains(wrap.id))
        #expect(!world[1].durable.state.seen.contains(wrap.id))
    }

    @Test func refusedFloodForgetsNoGenuineEvent() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "once")
        world.settle()
        let genuine = world.relayed.filter { $0.kind == .groupEvent || $0.kind == .giftWrap }.map(\.id)
        let seen = Set(world[1].durable.state.seen)
        #expect(genuine.allSatisfy(seen.contains))
        var step = CoreStep.at(world.now)
        for number in 0..<60_000 {
            let bytes = withUnsafeBytes(of: UInt64(number)) { Array($0) }
            world.accounts[1].model.inbound.noteRefused(try EventID(bytes: bytes + bytes + bytes + bytes), &step)
        }
        for event in world.relayed { world.receive(1, event) }
        #expect(world[1].texts == ["once"])
        #expect(seen.allSatisfy(world[1].model.inbound.seen.contains))
    }

    /// Second line of defence: consumed keys are deleted, so a replay fails even if its event id was forgotten.
    @Test func mlsRefusesReplaysOfForgottenIDs() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "once")
        world.settle()
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "renamed"), "rename")
        world.settle()
        let epoch = world[1].group?.epoch
        let wraps = Set(world.relayed.filter { $0.kind == .giftWrap }.map(\.id))
        // The Welcome stays remembered as genuine; everything else is forgotten.
        let events = world.relayed.filter { !wraps.contains($0.id) }
        let forgotten = Set(events.map(\.id))
        world.accounts[1].durable.state.seen.removeAll(where: forgotten.contains)
        try world.restart(1)
        // Unhandled events are delivered again after the restart.
        let (texts, commits) = (world[1].texts, world[1].commits)
        for event in events { world.receive(1, event) }
        #expect(world[1].texts == texts && world[1].commits == commits)
        #expect(world[1].durable.messages.map(\.rumor.content) == ["once"])
        #expect(world[1].group?.epoch == epoch)
    }

    @Test func welcomeWorksOnceAfterRemoval() throws {
        var world = try ReducerWorld.group(2)
        let welcome = try #require(world.relayed.last { $0.kind == .giftWrap })
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key]), "remove")
        world.settle()
        #expect(world[1].group?.isActive == false)
        // The gift wrap's id is forgotten, as after a flood; the hash of its Welcome is not.
        world.accounts[1].durable.state.seen.removeAll { $0 == welcome.id }
        world.accounts[1].durable.state.refused.removeAll { $0 == welcome.id }
        try world.restart(1)
        world.receive(1, welcome)
        world.settle()
        #expect(world[1].group?.isActive == false)
    }
}
