import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Changes of a group's data and requirements (MIP-01).
@Suite struct GroupChangeReducerTests {
    private func perform(
        _ world: inout ReducerWorld, _ index: Int, _ action: (ChatID) -> AppAction
    ) -> ActionOutcome? {
        world.act(index, action(world[index].chatID), "change")
        world.settle()
        return world[index].outcomes["change"]
    }

    @Test func everyFieldIsSetAndReported() throws {
        var world = try ReducerWorld.group(3)
        let chat = world[0].chatID
        let other = try RelayURL("wss://other.example")
        let done = ActionOutcome.done(chatID: chat)
        #expect(self.perform(&world, 0) { .setGroupDescription(chatID: $0, description: "d") } == done)
        #expect(world[2].commits.last?.newDescription == "d" && world[2].commits.last?.descriptionChanged == true)
        #expect(
            self.perform(&world, 0) { .setGroupRelays(chatID: $0, relays: [ReducerWorld.relay, other]) } == done)
        #expect(world[2].commits.last?.relaysChanged == true && world[2].commits.last?.newRelays.count == 2)
        #expect(world[2].model.allRelays == [ReducerWorld.relay, other])
        let admins = [world[0].key, world[1].key]
        #expect(self.perform(&world, 0) { .setGroupAdmins(chatID: $0, admins: admins) } == done)
        #expect(world[2].commits.last?.adminsAdded == [world[1].key] && world[1].group?.isAdmin == true)
        #expect(self.perform(&world, 0) { .setDisappearingMessages(chatID: $0, seconds: 60) } == done)
        #expect(world[2].commits.last?.disappearingSeconds == 60)
        #expect(world[2].commits.last?.disappearingChanged == true)
        #expect(self.perform(&world, 1) { .setDisappearingMessages(chatID: $0, seconds: nil) } == done)
        #expect(world[2].group?.data.disappearingSeconds == nil)
        #expect(self.perform(&world, 1) { .selfDemote(chatID: $0) } == done)
        #expect(world[2].group?.data.admins == [world[0].key])
        #expect(self.perform(&world, 2) { .updateGroupKeys(chatID: $0) } == done)
        #expect(world[0].group?.epoch == 8)
        // Changes by other admins are preserved.
        #expect(world[0].group?.data.description == "d" && world[0].group?.data.name == "Lab")
    }

    @Test func rotationKeepsChatID() throws {
        var world = try ReducerWorld.group(2)
        let chatID = world[0].chatID
        let old = try #require(world[0].group?.data.nostrGroupIDHex)
        let outcome = self.perform(&world, 0) { .rotateGroupID(chatID: $0) }
        let new = try #require(world[0].group?.data.nostrGroupIDHex)
        #expect(new != old && outcome == .done(chatID: chatID) && world[1].chatID == chatID)
        #expect(world[1].model.state.chatList[0].routingIDs == [new, old])
        world.say(1, "under the new id")
        world.settle()
        #expect(world[0].texts == ["under the new id"] && world.relayed.last?.firstTag("h")?.value == new)
    }

    @Test func explainsRefusedChanges() throws {
        var world = try ReducerWorld.group(2)
        let stranger = KeyPair.generate(using: &world.random).publicKey
        let refused: [(Int, (ChatID) -> AppAction)] = [
            (1, { .setGroupDescription(chatID: $0, description: "mine") }),
            (1, { .selfDemote(chatID: $0) }),
            (0, { .selfDemote(chatID: $0) }),
            (0, { .setDisappearingMessages(chatID: $0, seconds: 0) }),
            (0, { .setGroupDescription(chatID: $0, description: String(repeating: "x", count: 2001)) }),
            (0, { .setGroupAdmins(chatID: $0, admins: [stranger]) }),
            (0, { .upgradeGroup(chatID: $0) }),
        ]
        for (index, action) in refused {
            #expect(self.perform(&world, index, action)?.failure == .notAllowed)
            #expect(world[0].group?.epoch == 1 && world[0].group?.pending == nil)
            #expect(world[index].model.intents.all.allSatisfy { !$0.isOpen })
        }
        let unknown = ChatID(rawValue: String(repeating: "0", count: 64))
        #expect(self.perform(&world, 0) { _ in .leaveGroup(chatID: unknown) }?.failure == .unknownChat)
    }

    @Test func refusesOversizedGroupNamingLimit() throws {
        var world = try ReducerWorld(2)
        world.accounts[0].model = try CoreModel(
            account: world[0].keys,
            configuration: CoreConfiguration(relays: [ReducerWorld.relay], selfUpdate: .never, maximumEventBytes: 3000),
            stored: StoredState())
        for index in 0...1 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "n", peers: [world[1].key]), "create")
        world.settle()
        #expect(world[0].outcomes["create"]?.failure == .notAllowed && world[0].model.groups.isEmpty)
        #expect(world[0].model.state.toast?.contains("3000") == true)
    }

    @Test func mergesConcurrentChangesOfDifferentFields() throws {
        var world = try ReducerWorld.group(3)
        _ = self.perform(&world, 0) { [keys = world.accounts.map(\.key)] in
            .setGroupAdmins(chatID: $0, admins: [keys[0], keys[1]])
        }
        // Both commit at once: the losing change is committed again on top of the winning one.
        world.act(0, .setGroupDescription(chatID: world[0].chatID, description: "d"), "description")
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "n"), "name")
        world.settle()
        world.settle()
        for index in 0...2 {
            #expect(world[index].group?.data.description == "d" && world[index].group?.data.name == "n")
            #expect(world[index].group?.epoch == 4)
        }
    }

    @Test(arguments: [
        GroupField.name("n"), .description(""), .relays([ReducerWorld.relay]), .relays([]), .admins([]),
        .disappearing(nil), .disappearing(.max), .disappearing(1),
    ])
    func storedFieldsRoundTrip(field: GroupField) throws {
        #expect(GroupField(field.json) == field)
        let intent = GroupIntent(number: 258, groupID: [1, 2], goal: .set(field))
        let read = try #require(GroupIntent(intent.memo, intent.stored))
        #expect(read.goal == .set(field) && read.number == 258 && read.groupID == [1, 2] && read.phase == .queued)
    }

    @Test func storedGoalsAndPhasesRoundTrip() throws {
        let id = try EventID(bytes: [UInt8](repeating: 7, count: 32))
        let goals: [GroupIntent.Goal] = [
            .selfDemote, .upgrade, .selfUpdate(isAutomatic: true), .selfUpdate(isAutomatic: false), .commitDepartures,
            .leave, .set(.nostrGroupID(Lab.id)),
        ]
        for goal in goals {
            var intent = GroupIntent(number: 1, groupID: [3], goal: goal)
            intent.phase = .proposed(id, epoch: .max)
            let read = try #require(GroupIntent(intent.memo, intent.stored))
            #expect(read.goal == goal && read.phase == .proposed(id, epoch: .max))
        }
        for damaged in [#"{"relays":["http://x"]}"#, #"{"admins":["00"]}"#, #"{"disappearing":"0"}"#, "{}"] {
            #expect(GroupField(try JSONValue(json: Array(damaged.utf8))) == nil)
        }
    }

    private enum Lab {
        static var id: Bytes32 {
            var random = SplitMix64(seed: 1)
            return .random(using: &random)
        }
    }
}
