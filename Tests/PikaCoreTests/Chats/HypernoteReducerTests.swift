import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Hypernotes and responses to them (docs/protocol/marmot.md §8.4).
@Suite struct HypernoteReducerTests {
    private static let poll = Hypernote(
        content: "Lunch?\n<SubmitButton action=\"yes\">Yes</SubmitButton><SubmitButton action=\"no\">No</SubmitButton>",
        title: "Poll", state: #"{"note":"none"}"#)

    private func view(_ world: ReducerWorld, _ index: Int) -> AppState.HypernoteView? {
        world[index].model.state.currentChat?.messages.first { $0.kind == .hypernote }?.hypernote
    }

    /// A group of three in which the second account shows a poll of the first.
    private func world() throws -> (ReducerWorld, EventID) {
        var world = try ReducerWorld.group(3)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.act(0, .sendHypernote(chatID: world[0].chatID, Self.poll), "poll")
        world.settle()
        guard case .queued(let id, _) = world[0].outcomes["poll"] else {
            throw AppCoreError(.notAllowed, "not sent")
        }
        return (world, id)
    }

    private func answer(
        _ world: inout ReducerWorld, _ index: Int, _ id: EventID, _ action: String, form: [String: String] = [:]
    ) {
        world.now += 1000
        world.act(
            index, .hypernoteAction(chatID: world[index].chatID, hypernote: id, action: action, form: form), "answer")
        world.settle()
    }

    @Test func showsAndCountsHypernote() throws {
        let (world, id) = try self.world()
        let shown = try #require(world[1].model.state.currentChat?.messages.first)
        #expect(shown.id == id && shown.kind.rawValue == 9467 && shown.content == Self.poll.content)
        let view = try #require(shown.hypernote)
        #expect(view.title == "Poll")
        #expect(view.document == HypernoteDocument(Self.poll.content))
        #expect(view.initialForm == ["note": "none"])
        #expect(view.responses.isEmpty && view.ownResponse == nil && view.tally.isEmpty)
        #expect(world[2].model.state.chatList.first?.unreadCount == 1)
        #expect(world[2].model.state.chatList.first?.lastMessage == "Poll")
        guard case .message(let event)? = world[1].delivered.last?.content else { return #expect(Bool(false)) }
        #expect(event.id == id && event.kind == .hypernote)
    }

    @Test func untitledHypernotePreviewsItsText() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .sendHypernote(chatID: world[0].chatID, Hypernote(content: "<Card><Body>Hi</Body> all</Card>")))
        world.settle()
        #expect(world[1].model.state.chatList.first?.lastMessage == "Hi all")
    }

    @Test func keepsLatestAnswerOfEachMember() throws {
        var (world, id) = try self.world()
        self.answer(&world, 0, id, "yes")
        self.answer(&world, 1, id, "yes", form: ["note": "late"])
        self.answer(&world, 2, id, "no")
        var view = try #require(self.view(world, 1))
        #expect(view.tally == ["yes": 2, "no": 1])
        #expect(view.ownResponse?.form == ["note": "late"])
        #expect(view.responses.map(\.sender) == [world[0].key, world[1].key, world[2].key])
        self.answer(&world, 0, id, "no")
        view = try #require(self.view(world, 1))
        #expect(view.tally == ["yes": 1, "no": 2])
        #expect(view.responses.map(\.sender) == [world[1].key, world[2].key, world[0].key])
        // Hidden and not counted; handlers receive them.
        #expect(world[1].model.state.currentChat?.messages.count == 1)
        #expect(world[2].model.state.chatList.first?.unreadCount == 1)
        #expect(world[2].model.state.chatList.first?.lastMessage == "Poll")
        #expect(world[2].texts.last == #"{"action":"no","form":{}}"#)
    }

    @Test func tallyIgnoresArrivalOrder() throws {
        var (world, id) = try self.world()
        let known = world.relayed.count
        for (index, action) in [(0, "yes"), (0, "no"), (2, "yes")] {
            world.now += 1000
            world.act(index, .hypernoteAction(chatID: world[index].chatID, hypernote: id, action: action, form: [:]))
            world.settle(offline: [1])
        }
        for event in world.relayed[known...].reversed() { world.receive(1, event) }
        #expect(self.view(world, 1)?.tally == ["yes": 1, "no": 1])
        let live = self.view(world, 1)
        try world.restart(1)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.settle()
        #expect(self.view(world, 1) == live)
    }

    @Test func ignoresAnswersNamingNoButton() throws {
        var (world, id) = try self.world()
        self.answer(&world, 2, id, "yes")
        self.answer(&world, 2, id, "maybe")
        #expect(self.view(world, 1)?.responses == [])
        // Without any button, every response counts.
        world.act(0, .sendHypernote(chatID: world[0].chatID, Hypernote(content: "free")), "free")
        world.settle()
        guard case .queued(let free, _) = world[0].outcomes["free"] else { return #expect(Bool(false)) }
        self.answer(&world, 2, free, "anything")
        let shown = world[1].model.state.currentChat?.messages.last
        #expect(shown?.hypernote?.tally == ["anything": 1])
    }

    @Test func countsAnswersLoadedBeforeTheirHypernote() throws {
        var (world, id) = try self.world()
        self.answer(&world, 2, id, "no")
        let stored = world[1].durable.messages.sorted { $0.position > $1.position }
        #expect(stored.count == 2)
        world.act(1, .popScreen)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.accounts[1].due = []
        let opening = world[1].model.chats.lastOpening
        world.reduce(1, .messagesLoaded([stored[0]], opening: opening, reachedStart: false, nil))
        #expect(world[1].model.state.currentChat?.messages.isEmpty == true)
        world.reduce(1, .messagesLoaded([stored[1]], opening: opening, reachedStart: true, nil))
        #expect(self.view(world, 1)?.tally == ["no": 1])
    }

    @Test func ignoresMalformedAnswers() throws {
        var (world, id) = try self.world()
        for message in [
            OutgoingMessage(kind: .hypernoteResponse, content: "{}", tags: [.event(id)]),
            OutgoingMessage(kind: .hypernoteResponse, content: #"{"action":"yes"}"#),
            OutgoingMessage(kind: .hypernoteResponse, content: #"{"action":"yes"}"#, tags: [Nostr.Tag("e", "x")]),
        ] {
            world.act(2, .sendMessage(chatID: world[2].chatID, message))
            world.settle()
        }
        #expect(self.view(world, 1)?.responses == [])
        world.act(2, .hypernoteAction(chatID: world[2].chatID, hypernote: id, action: " ", form: [:]), "blank")
        #expect(world[2].outcomes["blank"]?.failure == .notAllowed)
        let fields = Dictionary(uniqueKeysWithValues: (0...256).map { (String($0), "") })
        world.act(2, .hypernoteAction(chatID: world[2].chatID, hypernote: id, action: "yes", form: fields), "many")
        #expect(world[2].outcomes["many"]?.failure == .notAllowed)
    }

    @Test func boundsAnswersToUnknownHypernotes() throws {
        var (world, id) = try self.world()
        let groupID = try #require(world[1].group?.groupID)
        let messages = (0..<(OpenChat.maximumAnswered + 50)).map { number in
            let digits = String(number, radix: 16)
            let target = String(repeating: "a", count: 64 - digits.count) + digits
            let rumor = UnsignedEvent(
                pubkey: world[2].key, createdAt: UnixTime(Int64(number)), kind: .hypernoteResponse,
                tags: [Nostr.Tag("e", target)], content: #"{"action":"yes"}"#)
            return StoredMessage(
                groupID: groupID, rumor: rumor, id: rumor.id, wrapper: rumor.id, epoch: 1, isOwn: false)
        }
        let opening = world[1].model.chats.lastOpening
        world.reduce(1, .messagesLoaded(messages, opening: opening, reachedStart: true, nil))
        #expect(world[1].model.chats.open?.responses.count == OpenChat.maximumAnswered)
        #expect(self.view(world, 1)?.responses == [])
        self.answer(&world, 1, id, "yes")
        world.act(1, .popScreen)
        world.act(1, .openChat(chatID: world[1].chatID))
        #expect(world[1].model.chats.open?.responses.isEmpty != false)
    }
}
