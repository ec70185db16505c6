import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct GroupsTests {
    @Test func findsGroupOfEvent() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "hello")
        world.settle()
        let event = try #require(world.relayed.last { $0.kind == .groupEvent })
        let groupID = try #require(world[1].group?.groupID)
        let groups = world[1].model.groups
        #expect(groups.candidates(for: event) == [groupID] && groups.group(of: event) == groupID)
        #expect(groups.onlyCandidate(for: event) == groupID)
        #expect(Groups().group(of: event) == nil && Groups().onlyCandidate(for: event) == nil)
    }

    @Test func storesMigratedChatIDsOnce() throws {
        let world = try ReducerWorld.group(2)
        let group = try #require(world[1].group)
        var groups = Groups()
        groups.route(.first(group), enteredAt: 0)
        var stored = StoredState()
        let payload = JSONValue.object(["v": 1, "chat": .string(group.data.nostrGroupIDHex)]).json()
        stored.inbox = [InboxRow(id: 4, payload: payload)]
        groups.migrateChatIDs(in: &stored)
        for count in [1, 0] {
            var step = CoreStep.at(0)
            groups.storeMigratedChatIDs(&step)
            #expect(step.changes.count == count && step.effects.isEmpty)
        }
    }
}
