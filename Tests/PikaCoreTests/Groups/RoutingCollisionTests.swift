import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// A group's admin assigns it the routing id of another group.
@Suite struct RoutingCollisionTests {
    /// Mallory is the admin of one group, Bob of another; the bot is a member and admin of both.
    private struct Scene {
        var world: ReducerWorld
        let mallorys: GroupID
        let bobs: GroupID
        let oldID: Bytes32
        let bobsID: Bytes32

        static let (mallory, bot, bob) = (0, 1, 2)

        init() throws {
            var world = try ReducerWorld(3)
            for index in 0..<3 { world.reduce(index, .started) }
            world.settle()
            for founder in [Self.mallory, Self.bob] {
                world.now += 1000
                world.act(founder, .createGroupChat(name: "\(founder)", peers: [world[Self.bot].key]), "create")
                world.settle()
                let admins = [world[founder].key, world[Self.bot].key]
                world.act(founder, .setGroupAdmins(chatID: world[founder].chatID, admins: admins), "admins")
                world.settle()
            }
            let mallorys = try #require(world[Self.mallory].group)
            let bobs = try #require(world[Self.bob].group)
            self.mallorys = mallorys.groupID
            self.bobs = bobs.groupID
            self.oldID = mallorys.data.nostrGroupID
            self.bobsID = bobs.data.nostrGroupID
            self.world = world
        }

        /// Sends a message in the member's group without delivering it.
        mutating func prepare(_ index: Int, _ text: String) throws -> Event {
            self.world.now += 1000
            self.world.say(index, text)
            let event = try #require(self.world[index].publishing.last?.event)
            self.world.settle(offline: [Self.bot])
            return event
        }

        mutating func attack() throws {
            self.world.now += 1000
            var data = try #require(self.world[Self.mallory].group).data
            data.nostrGroupID = self.bobsID
            self.world.change(Self.mallory, to: data)
            self.world.settle()
        }

        mutating func say(_ index: Int, _ text: String) {
            self.world.now += 1000
            self.world.say(index, text)
            self.world.settle()
        }

        /// The chat and role of each text that the bot received; inbox rows are redelivered after a restart.
        func receivedTexts() -> [String: String] {
            var received: [String: String] = [:]
            var rows: Set<Int64> = []
            for event in self.world[Self.bot].delivered where rows.insert(event.inboxID).inserted {
                guard case .message(let message) = event.content else { continue }
                let group =
                    switch event.chatID {
                    case ChatID(self.mallorys): "mallory"
                    case ChatID(self.bobs): "bob"
                    default: event.chatID.rawValue
                    }
                let known = received[message.content]
                received[message.content] =
                    (known.map { "\($0), " } ?? "") + "\(group) \(message.role?.rawValue ?? "?")"
            }
            return received
        }

        var collisions: Int {
            let note = CoreNote.routingCollision(
                nostrGroupID: self.bobsID.hex, chatIDs: [ChatID(self.mallorys), ChatID(self.bobs)])
            return self.world[Self.bot].notes.count { $0 == note }
        }
    }

    @Test func keySelectsChat() throws {
        var scene = try Scene()
        let late = try scene.prepare(Scene.mallory, "old tag")
        try scene.attack()
        #expect(late.firstTag("h")?.value == scene.oldID.hex)
        #expect(scene.world[Scene.bot].model.groups[scene.mallorys]?.data.nostrGroupID == scene.bobsID)
        #expect(scene.collisions == 1)
        scene.world.receive(Scene.bot, late)
        scene.say(Scene.mallory, "new tag")
        scene.say(Scene.bob, "genuine")
        #expect(scene.world.relayed.suffix(2).allSatisfy { $0.firstTag("h")?.value == scene.bobsID.hex })
        let expected = ["old tag": "mallory admin", "new tag": "mallory admin", "genuine": "bob admin"]
        #expect(scene.receivedTexts() == expected)
        // Repeated events have no effect.
        for event in scene.world.relayed { scene.world.receive(Scene.bot, event) }
        #expect(scene.receivedTexts() == expected && scene.world[Scene.bot].durable.state.waiting.isEmpty)
    }

    @Test func restartKeepsChats() throws {
        var scene = try Scene()
        let late = try scene.prepare(Scene.mallory, "old tag")
        try scene.attack()
        let names = scene.world[Scene.bot].model.state.chatList.map(\.chatID)
        try scene.world.restart(Scene.bot)
        #expect(Set(scene.world[Scene.bot].model.state.chatList.map(\.chatID)) == Set(names))
        #expect(scene.collisions == 2)
        scene.world.receive(Scene.bot, late)
        scene.say(Scene.mallory, "new tag")
        scene.say(Scene.bob, "genuine")
        #expect(
            scene.receivedTexts() == ["old tag": "mallory admin", "new tag": "mallory admin", "genuine": "bob admin"])
    }

    @Test func answersStayInTheirGroup() throws {
        var scene = try Scene()
        let late = try scene.prepare(Scene.mallory, "old tag")
        try scene.attack()
        scene.world.receive(Scene.bot, late)
        for text in ["one", "two"] {
            let event = try #require(scene.world[Scene.bot].delivered.last { $0.chatID == ChatID(scene.mallorys) })
            scene.world.now += 1000
            scene.world.reduce(
                Scene.bot,
                .handled(
                    inboxID: event.inboxID,
                    [
                        HandlerEffect(id: text, operation: .send(chatID: event.chatID, .text(text))),
                        HandlerEffect(
                            id: "act", operation: .dispatch(.renameGroup(chatID: event.chatID, name: text))),
                    ]))
            #expect(scene.world[Scene.bot].model.delivery.queue.row(text)?.groupID == scene.mallorys)
            scene.world.settle()
            #expect(scene.world[Scene.bot].model.groups[scene.mallorys]?.data.name == text)
            #expect(scene.world[Scene.bot].model.groups[scene.bobs]?.data.name == "\(Scene.bob)")
            #expect(scene.world[Scene.mallory].texts.last == text && scene.world[Scene.bob].texts.isEmpty)
            try scene.world.restart(Scene.bot)
        }
    }

    @Test func ambiguousIDNamesNoChat() throws {
        var scene = try Scene()
        scene.world.act(Scene.bot, .sendMessage(chatID: ChatID(rawValue: scene.bobsID.hex), .text("before")), "before")
        scene.world.settle()
        #expect(scene.world[Scene.bob].texts == ["before"], "a single claim must identify the chat")
        try scene.attack()
        scene.world.act(Scene.bot, .sendMessage(chatID: ChatID(rawValue: scene.bobsID.hex), .text("x")), "x")
        guard case .failed(let error)? = scene.world[Scene.bot].outcomes["x"] else {
            Issue.record("expected an ambiguous reference to be refused")
            return
        }
        #expect(error.code == .ambiguousChat)
        #expect(error.message.contains(scene.mallorys.hex) && error.message.contains(scene.bobs.hex))
        scene.world.act(Scene.bot, .sendMessage(chatID: ChatID(rawValue: scene.oldID.hex), .text("former")), "former")
        scene.world.settle()
        #expect(scene.world[Scene.mallory].texts == ["former"], "a former id must still identify the chat")

        let state = scene.world[Scene.bot].model.state
        #expect(throws: AppCoreError.self) { try state.chat(named: scene.bobsID.hex.uppercased()) }
        #expect(try state.chat(named: scene.bobs.hex)?.nostrGroupID == scene.bobs.hex)
        #expect(try state.chat(named: scene.oldID.hex)?.chatID == ChatID(scene.mallorys))
        let chat = try #require(try state.chat(named: scene.bobs.hex))
        let claimed = ChatID(rawValue: scene.bobsID.hex)
        #expect(!state.matches([claimed], chat) && !state.matches([ChatID(rawValue: scene.oldID.hex)], chat))
        #expect(state.matches([ChatID(scene.bobs), claimed], chat))
    }

    @Test func eventWaitsOnceForAllCandidates() throws {
        var scene = try Scene()
        try scene.attack()
        // Bob's group enters an epoch that the bot does not know.
        scene.world.now += 1000
        scene.world.act(Scene.bob, .renameGroup(chatID: scene.world[Scene.bob].chatID, name: "next"))
        let commit = try #require(scene.world[Scene.bob].publishing.last?.event)
        scene.world.settle(offline: [Scene.bot])
        let early = try scene.prepare(Scene.bob, "early")
        for _ in 0..<3 { scene.world.receive(Scene.bot, early) }
        let durable = { (scene: Scene) in scene.world[Scene.bot].durable.state.waiting.map(\.event.id) }
        #expect(durable(scene) == [early.id])
        // An epoch of the other group has no effect.
        scene.world.now += 1000
        scene.world.act(Scene.mallory, .renameGroup(chatID: scene.world[Scene.mallory].chatID, name: "other"))
        scene.world.settle()
        #expect(durable(scene) == [early.id] && scene.receivedTexts().isEmpty)
        try scene.world.restart(Scene.bot)
        scene.world.receive(Scene.bot, commit)
        #expect(scene.receivedTexts() == ["early": "bob admin"] && durable(scene).isEmpty)
        scene.world.receive(Scene.bot, early)
        #expect(scene.receivedTexts() == ["early": "bob admin"])
    }

    @Test func releasedIdsLeaveNothingWaiting() throws {
        var scene = try Scene()
        let junk = UnsignedEvent(
            pubkey: scene.world[Scene.bob].key, createdAt: scene.world.time, kind: .groupEvent,
            tags: [Tag("h", scene.oldID.hex)], content: String(repeating: "A", count: 80)
        ).signed(by: scene.world[Scene.bob].keys, using: &scene.world.random)
        scene.world.receive(Scene.bot, junk)
        #expect(scene.world[Scene.bot].durable.state.waiting.map(\.event.id) == [junk.id])
        for _ in 0..<8 {
            scene.world.now += 1000
            scene.world.act(Scene.mallory, .rotateGroupID(chatID: scene.world[Scene.mallory].chatID))
            scene.world.settle()
        }
        #expect(scene.world[Scene.bot].model.groups.routes.groups(claiming: scene.oldID).isEmpty)
        #expect(scene.world[Scene.bot].durable.state.waiting.isEmpty)
    }

    @Test func refusesGroupIDsOfOtherGroups() throws {
        var scene = try Scene()
        let (bot, world) = (Scene.bot, scene.world)
        let keyPackage = try #require(world.relayed.last { $0.kind == .keyPackage && $0.pubkey == world[bot].key })
        let intruder = KeyPair.generate(using: &scene.world.random)
        for (bytes, reason) in [(scene.bobsID.bytes, "bad_group_data"), ([], "bad_group_data")] {
            let (_, welcomes) = try MarmotGroup.create(
                GroupData(
                    nostrGroupID: .random(using: &scene.world.random), name: "Trap", description: "",
                    admins: [intruder.publicKey], relays: [ReducerWorld.relay]), founder: intruder.publicKey,
                inviting: [try Invitee(keyPackage, now: ReducerWorld.start)], client: "test",
                now: ReducerWorld.start, groupID: GroupID(bytes), using: &scene.world.random)
            let wrap = try GiftWrap.wrap(
                try #require(welcomes.first).rumor, from: intruder, to: world[bot].key, now: ReducerWorld.start,
                using: &scene.world.random)
            scene.world.receive(bot, wrap)
            #expect(scene.world[bot].model.groups.count == 2)
            #expect(
                scene.world[bot].notes.contains { if case .refused(reason, _) = $0 { true } else { false } })
            scene.world.accounts[bot].notes = []
        }
    }
}
