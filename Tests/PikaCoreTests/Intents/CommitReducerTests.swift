import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct CommitReducerTests {
    /// A group of two, and a third account outside with its key package on the relay.
    private func worldWithGuest() throws -> ReducerWorld {
        var world = try ReducerWorld(3)
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        return world
    }

    /// Lets account 0 add the guest, up to the unpublished commit.
    private func worldWithPendingAdd() throws -> (world: ReducerWorld, row: String, commit: Event) {
        var world = try self.worldWithGuest()
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        guard case .fetch(let purpose, _, _)? = world[0].due.first else { throw Missing.fetch }
        world.accounts[0].due = []
        let packages = world.relayed.filter { $0.kind == .keyPackage || $0.kind == .addressableKeyPackage }
        let step = world.reduce(0, .fetched(purpose, [ReducerWorld.relay: .events(packages)]))
        #expect(step.queued == [.commit])
        let (row, event) = try #require(world[0].publishing.first)
        world.accounts[0].due = []
        return (world, row, event)
    }

    private enum Missing: Error { case fetch }

    @Test func sendsWelcomesOnceRelayHasCommit() throws {
        var (world, row, commit) = try self.worldWithPendingAdd()
        #expect(!world[0].durable.state.outbox.contains { $0.purpose == .welcome })
        #expect(world[0].model.state.busy.changingChats == [world[0].chatID])
        let epoch = world[0].group?.epoch
        world.accept(0, row)
        #expect(world[0].durable.state.outbox.map(\.purpose) == [.welcome])
        #expect(world[0].group?.epoch == epoch.map { $0.later(by: 1) })
        #expect(world[0].model.state.busy == .init())
        // The action ends when a relay has the invitation.
        #expect(world[0].outcomes["add"] == nil)
        world.receive(1, commit)
        world.settle()
        #expect(world[0].outcomes["add"] == .done(chatID: world[0].chatID))
        #expect(world[2].group?.epoch == world[0].group?.epoch)
        #expect(world[1].commits.last?.added == [world[2].key])
    }

    @Test func echoBeforeOKMergesAndInvitesOnce() throws {
        var (world, row, commit) = try self.worldWithPendingAdd()
        world.receive(0, commit)
        // One relay has the commit; the other relays' answers are unknown.
        #expect(world[0].durable.state.outbox.map(\.purpose) == [.commit, .welcome])
        world.accept(0, row)
        world.receive(0, commit)
        #expect(world[0].durable.state.outbox.map(\.purpose) == [.welcome])
        #expect(world[0].commits.count == 1)
        #expect(world[0].commits.first?.isOwn == true)
    }

    @Test func dropsCommitRefusedByEveryRelay() throws {
        var (world, row, commit) = try self.worldWithPendingAdd()
        let groupID = try #require(world[0].group?.groupID)
        let step = world.reduce(
            0, .published(row: row, PublishReport(relay: ReducerWorld.relay, outcome: .refused("blocked: no"))),
            .publishEnded(row: row, relays: [ReducerWorld.relay]))
        #expect(world[0].outcomes["add"]?.failure == .refused)
        // A relay may have it nevertheless, so the record for accepting it later stays.
        #expect(!step.deletesGroup(StoredGroupKey(groupID, .ownCommit(commit.id)).bytes))
        #expect(world[0].group?.pending == nil)
        #expect(world[0].durable.state.outbox.isEmpty)
        #expect(world[0].model.state.busy == .init())
        try world.restart(0)
        #expect(world[0].group?.pending == nil)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "again"), "rename")
        world.settle()
        #expect(world[1].group?.data.name == "again")
    }

    @Test func retriesUnreachableRelayWithBackoff() throws {
        var (world, row, _) = try self.worldWithPendingAdd()
        world.connect(0)
        var delays: [Int64] = []
        for _ in 0..<10 {
            world.answer(0, row, .unreachable("down"))
            guard case .wake(.outbox, let time)? = world[0].due.last else { throw Missing.fetch }
            delays.append(time - world.now)
            world.now = time
            world.accounts[0].due = []
            world.reduce(0, .timer(.outbox))
            // Another commit may have been accepted meanwhile, so the relay is read first.
            #expect(world[0].publishing.isEmpty)
            world.catchUp(0)
            #expect(world[0].publishing.map(\.row) == [row])
        }
        #expect(delays == [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000])
        #expect(world[0].group?.pending != nil)
        #expect(world[0].outcomes["add"] == nil)
    }

    @Test func pendingCommitSurvivesCrash() throws {
        var (world, row, commit) = try self.worldWithPendingAdd()
        try world.restart(0)
        #expect(!world[0].publishing.contains { $0.row == row })
        world.connect(0)
        #expect(world[0].publishing.contains { $0.row == row && $0.event == commit })
        #expect(world[0].model.state.busy.changingChats == [world[0].chatID])
        world.accept(0, row)
        #expect(world[0].durable.state.outbox.contains { $0.purpose == .welcome })
        #expect(world[0].group?.pending == nil)
        #expect(world[0].durable.state.memos.keys.filter { $0.kind == .groupIntent }.count == 1)
        world.receive(1, commit)
        try world.restart(0)
        world.settle()
        world.say(0, "after the crash")
        world.settle()
        #expect(world[1].texts == ["after the crash"])
        #expect(world[2].texts == ["after the crash"])
    }

    @Test func reportsPendingCommitDisplacedByBetterOne() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createChat(peer: world[1].key), "create")
        world.settle()
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "earlier"), "rename")
        let better = try #require(world[0].publishing.first)
        world.now += 5000
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "later"), "rename")
        let worse = try #require(world[1].publishing.first)
        world.receive(1, better.event)
        #expect(world[1].outcomes["rename"]?.failure == .displaced)
        #expect(world[1].group?.data.name == "earlier")
        #expect(!world[1].durable.state.outbox.contains { $0.id == worse.row })
        // It is kept, because in another wrapper with an earlier time it would win.
        #expect(world[1].durable.state.groups.count { $0.key.first == 1 } == 1)
        #expect(!world[1].durable.state.memos.keys.contains { $0.kind == .groupIntent })
        // The worse commit waits at the other member until that member's own is confirmed, and then loses.
        world.receive(0, worse.event)
        #expect(world[0].durable.state.waiting.count == 1)
        world.accept(0, better.row)
        #expect(world[0].durable.state.waiting.isEmpty)
        #expect(world[0].group?.data.name == "earlier")
    }

    @Test func secondChangeWaitsForFirst() throws {
        var (world, row, _) = try self.worldWithPendingAdd()
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "x"), "second")
        #expect(world[0].publishing.isEmpty && world[0].outcomes["second"] == nil)
        world.accept(0, row)
        world.settle()
        #expect(world[0].outcomes["add"] == .done(chatID: world[0].chatID))
        world.settle()
        #expect(world[0].outcomes["second"] == .done(chatID: world[0].chatID))
        #expect(world[0].group?.data.name == "x")
        #expect(world[0].model.state.busy == .init())
    }

    /// Two admins and a guest; the second admin has an earlier, undelivered commit.
    private func worldWithRace() throws -> (world: ReducerWorld, better: Event, row: String) {
        var world = try ReducerWorld(3)
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createChat(peer: world[1].key), "create")
        world.settle()
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "Bob's"), "bob")
        let (row, better) = try #require(world[1].publishing.first)
        world.accounts[1].due = []
        world.now += 5000
        return (world, better, row)
    }

    @Test func retriesAddAfterLostRace() throws {
        var (world, better, row) = try self.worldWithRace()
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        guard case .fetch(let purpose, _, _)? = world[0].due.first else { throw Missing.fetch }
        world.accounts[0].due = []
        let packages = world.relayed.filter { $0.kind == .keyPackage || $0.kind == .addressableKeyPackage }
        world.reduce(0, .fetched(purpose, [ReducerWorld.relay: .events(packages)]))
        let lost = try #require(world[0].publishing.first)
        world.receive(0, better)
        #expect(world[0].outcomes["add"] == nil)
        let again = try #require(world[0].publishing.last)
        #expect(again.event.id != lost.event.id)
        #expect(!world[0].durable.state.outbox.contains { $0.id == lost.row })
        world.accept(1, row)
        world.settle()
        #expect(world[0].outcomes["add"] == .done(chatID: world[0].chatID))
        for index in 0..<3 {
            #expect(world[index].group?.data.name == "Bob's" && world[index].group?.members.count == 3)
        }
    }

    /// The add was confirmed, its Welcome sent, and messages followed; then the better commit arrived.
    @Test(arguments: [false, true])
    func reproposesRolledBackChanges(restarts: Bool) throws {
        var (world, better, row) = try self.worldWithRace()
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.settle(offline: [1, 2])
        world.say(0, "on the branch that loses")
        world.settle(offline: [1, 2])
        #expect(world[0].group?.members.count == 3)
        if restarts { try world.restart(0) }
        world.accept(1, row)
        world.receive(0, better)
        #expect(world[0].commits.last?.rolledBack == true && world[0].group?.data.name == "Bob's")
        world.settle(offline: [2])
        #expect(world[0].group?.members.count == 3 && world[1].group?.members.count == 3)
        #expect(world[1].texts == ["on the branch that loses"])
        world.say(0, "on")
        world.settle(offline: [2])
        #expect(world[1].texts == ["on the branch that loses", "on"])
        #expect(world[0].durable.state.outbox.isEmpty)
        #expect(!world[0].durable.state.memos.keys.contains { $0.kind == .reseal })
    }

    /// This account was offline with an unanswered commit; another commit won.
    @Test func neverRepublishesOvertakenCommit() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createChat(peer: world[1].key), "create")
        world.settle()
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "Alice's"), "alice")
        let row = try #require(world[0].publishing.first).row
        world.accounts[0].due = []
        world.answer(0, row, .unreachable("gone"))
        world.now += 60_000
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "Bob's"), "bob")
        world.settle(offline: [0])
        world.say(1, "meanwhile")
        world.settle(offline: [0])
        try world.restart(0)
        world.connect(0)
        #expect(world[0].group?.data.name == "Bob's" && world[0].texts == ["meanwhile"])
        #expect(!world[0].durable.state.outbox.contains { $0.purpose == .commit })
        #expect(world[0].model.intents.isEmpty && world[0].group?.pending == nil)
        world.settle()
        world.say(0, "back")
        world.settle()
        #expect(world[1].texts == ["back"])
    }

    /// A group of two whose second member was removed and added again, and its missed events.
    private func worldWithReturn() throws -> (world: ReducerWorld, missed: [Event]) {
        var world = try ReducerWorld.group(2)
        let sentBefore = world.relayed.count
        world.now += 1000
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key]), "remove")
        world.settle(offline: [1])
        world.now += 1000
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[1].key]), "add")
        world.settle(offline: [1])
        world.now += 1000
        world.say(0, "welcome back")
        world.settle(offline: [1])
        return (world, Array(world.relayed[sentBefore...]))
    }

    @Test func removedMemberRejoinsInAnyEventOrder() throws {
        var (world, missed) = try self.worldWithReturn()
        // Gift wraps are read before group events, so the invitation precedes the removal.
        world.reduce(1, .fetched(.catchUp(ReducerWorld.relay), [ReducerWorld.relay: .events(missed)]))
        world.settle()
        #expect(world[1].commits.contains { $0.removedSelf })
        #expect(world[1].group?.isActive == true)
        #expect(world[1].texts == ["welcome back"])
        #expect(world[1].model.state.invites.isEmpty)
    }

    @Test func lateRemovalDoesNotUndoRejoin() throws {
        var (world, missed) = try self.worldWithReturn()
        for event in missed.reversed() { world.receive(1, event) }
        world.settle()
        #expect(world[1].group?.isActive == true)
        #expect(world[1].group?.epoch == world[0].group?.epoch)
        #expect(world[1].texts == ["welcome back"])
    }

    @Test func removedMemberCannotSend() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key]), "remove")
        world.settle()
        #expect(world[1].model.state.chatList.map(\.isActive) == [false])
        world.say(1, "still here?")
        #expect(world[1].outcomes["still here?"]?.failure == .notAllowed)
        #expect(world[1].due.isEmpty)
    }
}
