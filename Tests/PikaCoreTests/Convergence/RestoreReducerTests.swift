import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// After a restore, no message is encrypted with keys that another copy of the account may have used.
@Suite struct RestoreReducerTests {
    /// Two members, and a restored copy of the second, not started.
    private func world() throws -> (world: ReducerWorld, copy: Int) {
        var world = try ReducerWorld.group(2)
        world.connect(0)
        world.say(1, "before")
        world.settle()
        world.now += 60_000
        let copy = world.copy(1)
        return (world, copy)
    }

    private func groupEvents(_ world: ReducerWorld) -> Int { world.relayed.count { $0.kind == .groupEvent } }

    private func phase(_ world: ReducerWorld, _ index: Int) -> CopiedGroup.Phase? {
        world[index].model.groups.keys.lazy.compactMap { world[index].model.convergence.copies.phase(of: $0) }.first
    }

    @Test func restoredCopyCommitsFreshKeysFirst() throws {
        var (world, copy) = try self.world()
        let leaf = world[copy].group?.mls.ownLeaf
        try world.restart(copy)
        #expect(world[copy].durable.state.instance.isRestored == false)
        #expect(world[copy].notes.contains(.restored(groups: 1)))
        let before = self.groupEvents(world)
        world.say(copy, "early")
        world.settle(offline: [1])
        #expect(self.groupEvents(world) == before && self.phase(world, copy) == .reading)
        world.connect(copy)
        let commits = world[copy].publishing.filter { $0.event.kind == .groupEvent }
        #expect(commits.count == 1 && commits.first?.row.hasPrefix("commit/") == true)
        #expect(self.phase(world, copy) == .renewing)
        world.say(copy, "soon")
        world.settle(offline: [1])
        #expect(world[0].group?.epoch == 2 && world[copy].group?.epoch == 2)
        #expect(world[copy].group?.mls.ownLeaf.signatureKey != leaf?.signatureKey)
        #expect(world[0].texts == ["before", "early", "soon"])
        // One commit and two messages, none of them in the restored epoch.
        #expect(self.groupEvents(world) == before + 3)
        #expect(world[copy].durable.messages.suffix(2).map(\.epoch) == [2, 2])
        #expect(self.phase(world, copy) == .renewed(epoch: 1) && world[copy].model.delivery.queue.count == 0)
        world.say(copy, "then")
        world.say(0, "there")
        world.settle(offline: [1])
        #expect(world[0].texts.last == "then" && world[copy].texts == ["there"])
    }

    @Test(arguments: 0..<5)
    func restoreSurvivesCrashAtEveryStage(_ stage: Int) throws {
        var (world, copy) = try self.world()
        try world.restart(copy)
        world.say(copy, "early")
        if stage == 0 { try world.restart(copy) }
        world.connect(copy)
        if stage == 1 { try world.restart(copy) }
        if stage >= 2, let commit = world[copy].publishing.first(where: { $0.row.hasPrefix("commit/") }) {
            // A relay has received the commit.
            world.relayed.append(commit.event)
            world.receive(0, commit.event)
            if stage >= 3 { world.accept(copy, commit.row) }
            #expect(stage == 2 || self.phase(world, copy) == .resealing(epoch: 1))
            try world.restart(copy)
        }
        world.settle(offline: [1])
        if stage == 4 { try world.restart(copy) }
        world.connect(copy)
        world.settle(offline: [1])
        #expect(world[0].texts == ["before", "early"])
        #expect(world[copy].group?.epoch == 2 && world[0].group?.epoch == 2)
        #expect(self.phase(world, copy) == .renewed(epoch: 1) && world[copy].model.delivery.queue.count == 0)
    }

    @Test func mergedCommitsOfSecondGenerationRenewNothing() throws {
        var world = try SettlementReducerTests.world(2)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.advance(seconds: 3)
        // Another branch may still undo it, and be undone.
        let own = try #require(world[0].commits.last?.id)
        let copy = world.copy(0)
        try world.restart(copy)
        let memo = try #require(world[copy].durable.state.memos.first { $0.key.kind == .copiedGroup }?.value)
        #expect(CopiedGroup(memo)?.oldCommits.contains(own) == true)
    }

    @Test func otherChangesWaitForTheFreshKeys() throws {
        var world = try ReducerWorld.group(2)
        let copy = world.copy(0)
        try world.restart(copy)
        world.act(copy, .renameGroup(chatID: world[copy].chatID, name: "Renamed"), "rename")
        world.settle(offline: [0])
        #expect(world[1].group?.epoch == 1 && world[copy].outcomes["rename"] == nil)
        world.connect(copy)
        world.settle(offline: [0])
        #expect(world[1].commits.map(\.isRename) == [false, true] && world[1].group?.data.name == "Renamed")
        #expect(world[copy].outcomes["rename"]?.failure == nil && world[copy].outcomes["rename"] != nil)
    }

    @Test func retriesDisplacedRenewal() throws {
        var (world, copy) = try self.world()
        try world.restart(copy)
        world.say(copy, "early")
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "First"))
        let rename = try #require(world[0].publishing.last)
        world.now += 5000
        world.connect(copy)
        #expect(self.phase(world, copy) == .renewing)
        world.accept(0, rename.row)
        world.relayed.append(rename.event)
        world.receive(copy, rename.event)
        world.accounts[0].due = []
        world.settle(offline: [1])
        #expect(world[0].group?.epoch == 3 && world[copy].group?.epoch == 3)
        #expect(world[0].texts == ["before", "early"] && self.phase(world, copy) == .renewed(epoch: 2))
    }

    @Test func clearsMarkOnceRenewalIsFinal() throws {
        var (world, copy) = try self.world()
        try world.restart(copy)
        world.connect(copy)
        world.settle(offline: [1])
        #expect(self.phase(world, copy) == .renewed(epoch: 1))
        for number in 0..<8 {
            world.act(0, .renameGroup(chatID: world[0].chatID, name: "\(number)"))
            world.settle(offline: [1])
        }
        #expect(self.phase(world, copy) == nil)
        #expect(world[copy].durable.state.memos.keys.allSatisfy { $0.kind != .copiedGroup })
    }

    @Test func overtakenCopyRecoversByNewInvitation() throws {
        var (world, copy) = try self.world()
        world.act(1, .updateGroupKeys(chatID: world[1].chatID))
        world.settle(offline: [copy])
        world.say(0, "unreadable")
        world.settle(offline: [copy])
        #expect(world[0].group?.epoch == 2 && world[0].texts == ["before"])
        try world.restart(copy)
        world.say(copy, "lost")
        world.connect(copy)
        world.settle(offline: [1])
        #expect(self.phase(world, copy) == .overtaken)
        #expect(world[copy].model.state.chatList.first?.needsInvitation == true)
        #expect(world[copy].notes.contains(.overtaken(chatID: world[copy].chatID)))
        world.say(copy, "refused")
        #expect(world[copy].outcomes["refused"]?.failure == .overtaken)
        world.act(copy, .updateGroupKeys(chatID: world[copy].chatID), "update")
        world.settle(offline: [1])
        #expect(world[copy].outcomes["update"]?.failure == .overtaken)
        try world.restart(copy)
        #expect(world[copy].model.state.chatList.first?.needsInvitation == true)
        world.connect(copy)
        world.settle(offline: [1])
        #expect(world[0].texts == ["before"])

        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key]))
        world.settle(offline: [1])
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[1].key]), "add")
        world.settle(offline: [1])
        world.advance(seconds: 60, offline: [1])
        #expect(world[copy].model.state.chatList.first?.needsInvitation == false)
        #expect(world[copy].group?.epoch == world[0].group?.epoch)
        world.say(copy, "back")
        world.settle(offline: [1])
        #expect(world[0].texts.last == "back")
    }

    @Test func formerCopyReportsOvertakenGroup() throws {
        var (world, copy) = try self.world()
        try world.restart(copy)
        world.connect(copy)
        world.settle()
        #expect(world[1].model.state.chatList.first?.needsInvitation == true)
        #expect(world[copy].model.state.chatList.first?.needsInvitation == false)
        world.say(1, "refused")
        #expect(world[1].outcomes["refused"]?.failure == .overtaken)
    }

    @Test func backupOfOvertakenCopyStaysOvertaken() throws {
        var (world, copy) = try self.world()
        world.act(1, .updateGroupKeys(chatID: world[1].chatID))
        // The copy receives it before it is itself backed up.
        world.settle()
        #expect(self.phase(world, copy) == .overtaken)
        world.now += 1000
        let later = world.copy(copy)
        try world.restart(later)
        world.connect(later)
        world.settle(offline: [1, copy])
        #expect(self.phase(world, later) == .overtaken)
    }

    @Test func restoreReplacesKeyPackage() throws {
        var (world, copy) = try self.world()
        let old = world[copy].durable.state.keyPackages
        try world.restart(copy)
        let packages = world[copy].durable.state.keyPackages
        // One of each generation, in the same slots.
        #expect(packages.count == old.count + 2 && Set(packages.map(\.slot)) == Set(old.map(\.slot)))
        world.now += 10_000
        try world.restart(copy)
        #expect(world[copy].durable.state.keyPackages.count == packages.count)
    }

    @Test func storedMarksRoundTrip() throws {
        let id = try EventID(bytes: [UInt8](repeating: 3, count: 32))
        for phase in [
            CopiedGroup.Phase.reading, .renewing, .resealing(epoch: .max), .renewed(epoch: 0), .overtaken,
        ] {
            let copied = CopiedGroup(phase: phase, oldCommits: [id])
            #expect(CopiedGroup(copied.stored) == copied)
        }
        for text in ["", "{}", #"{"v":1,"old":[],"phase":"x"}"#, #"{"v":1,"old":["00"],"phase":"reading"}"#] {
            #expect(CopiedGroup(.init(Array(text.utf8))) == nil)
        }
    }
}
