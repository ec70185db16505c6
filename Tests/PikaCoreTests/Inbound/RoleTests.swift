import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Roles are determined by the epoch of a message, not by that of its arrival.
@Suite struct RoleTests {
    /// Three members; the second is an admin too.
    private func world() throws -> ReducerWorld {
        var world = try ReducerWorld.group(3)
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[0].key, world[1].key]), "promote")
        world.settle()
        #expect(world[2].group?.data.isAdmin(world[1].key) == true)
        return world
    }

    /// Sends a message of the second member without delivering it.
    private func say(_ world: inout ReducerWorld, _ text: String) throws -> Event {
        world.say(1, text)
        let event = try #require(world[1].publishing.last?.event)
        world.settle(offline: [0, 2])
        return event
    }

    private func demote(_ world: inout ReducerWorld) {
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[0].key]), "demote")
        world.settle()
    }

    private func roles(_ world: ReducerWorld) -> [String: MemberRole?] {
        var roles: [String: MemberRole?] = [:]
        for event in world[2].delivered {
            if case .message(let message) = event.content { roles[message.content] = .some(message.role) }
        }
        return roles
    }

    @Test func lateMessageOfDemotedAdminKeepsRole() throws {
        var world = try world()
        let late = try say(&world, "late")
        demote(&world)
        #expect(world[2].group?.data.isAdmin(world[1].key) == false)
        world.receive(2, late)
        world.say(1, "now")
        world.say(0, "boss")
        world.settle()
        #expect(roles(world) == ["late": .admin, "now": .member, "boss": .admin])
    }

    @Test func lateMessageOfPromotedMemberKeepsRole() throws {
        var world = try ReducerWorld.group(3)
        let late = try say(&world, "late")
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[0].key, world[1].key]), "promote")
        world.settle()
        world.receive(2, late)
        #expect(roles(world) == ["late": .member])
    }

    @Test func pastEpochRolesSurviveRestart() throws {
        var world = try world()
        let late = try say(&world, "late")
        demote(&world)
        try world.restart(2)
        world.receive(2, late)
        #expect(roles(world) == ["late": .admin])
        // Events in the inbox keep their role, too.
        let waiting = try #require(world[2].delivered.last)
        try world.restart(2)
        #expect(world[2].delivered.last == waiting)
        guard case .message(let message) = waiting.content else { throw AppCoreError(.unknownChat, "no message") }
        #expect((message.role, message.wrapper) == (.admin, late.id))
    }

    @Test func unknownEpochsHaveNoRole() throws {
        let world = try world()
        let groupID = try #require(world[2].group?.groupID)
        let epoch = try #require(world[2].group?.epoch)
        let model = world[2].model
        #expect(model.role(of: world[0].key, inEpoch: epoch, of: groupID) == .admin)
        #expect(model.role(of: world[0].key, inEpoch: epoch.later(by: 1), of: groupID) == nil)
        #expect(model.role(of: world[0].key, inEpoch: 0, of: [1, 2, 3]) == nil)
    }

    @Test func usesCommittersRoleBeforeItsCommit() throws {
        var world = try world()
        world.act(1, .selfDemote(chatID: world[1].chatID), "demote")
        world.settle()
        #expect(world[2].commits.last?.adminsRemoved == [world[1].key])
        #expect(world[2].commits.last?.role == .admin)
    }

    @Test func payloadsOfOlderVersionsHaveNoRole() throws {
        var world = try world()
        world.say(1, "hi")
        world.settle()
        let event = try #require(world[2].delivered.last)
        var json = try JSONValue(json: event.payload)
        guard case .object(var outer) = json, case .object(var body)? = outer["content"] else {
            throw AppCoreError(.corruptState, "no payload")
        }
        body["role"] = nil
        body["wrapper"] = nil
        outer["content"] = .object(body)
        json = .object(outer)
        let read = try #require(CoreEvent(inboxID: 9, payload: json.json()))
        guard case .message(let message) = read.content else { throw AppCoreError(.unknownChat, "no message") }
        #expect(message.content == "hi")
        #expect((message.role, message.wrapper) == (nil, nil))
        body["role"] = "owner"
        outer["content"] = .object(body)
        guard case .message(let odd)? = CoreEvent(inboxID: 9, payload: JSONValue.object(outer).json())?.content else {
            throw AppCoreError(.unknownChat, "no message")
        }
        #expect(odd.role == nil)
    }

    // MARK: Observed notices

    /// Every account receives all events of this test's relay.
    private func groupNotices(_ world: ReducerWorld) -> [CoreNotice] {
        world[2].notices.filter { $0.chatID != nil }
    }

    @Test func reportsRefusalsWithWrapperID() throws {
        var world = try world()
        let late = try say(&world, "twice")
        world.receive(2, late)
        let groupID = try #require(world[1].group?.groupID)
        let message = try #require(world[1].durable.messages.last { $0.isOwn })
        var random = world.random
        let now = world.time
        let again = try #require(
            try world.accounts[1].model.groups[first: groupID]?.seal(message.rumor, now: now, using: &random))
        world.receive(2, again)
        #expect(
            groupNotices(world) == [
                CoreNotice(
                    event: again.id, inner: message.id, chatID: world[2].chatID, fate: .refused, reason: "duplicate",
                    detail: "repeated inner event", at: world.time)
            ])
    }

    @Test func reportsWaitingMessageOnceThenDelivers() throws {
        var world = try world()
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "New"), "rename")
        let commit = try #require(world[0].publishing.last?.event)
        world.settle(offline: [2])
        let early = try say(&world, "early")
        for _ in 0..<3 { world.receive(2, early) }
        #expect(groupNotices(world).map(\.reason) == ["no_key"])
        #expect(groupNotices(world).map(\.event) == [early.id])
        #expect(groupNotices(world).first?.fate == .waiting)
        world.receive(2, commit)
        #expect(world[2].texts == ["early"])
    }
}
