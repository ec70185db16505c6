import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct StateReducerTests {
    private func holdsInvariant(_ state: AppState) -> Bool {
        if case .chat(let chatID) = state.router.top {
            state.currentChat?.chatID == chatID
        } else {
            state.currentChat == nil
        }
    }

    @Test func currentChatMatchesTopScreen() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "hello")
        world.settle()
        let chatID = world[1].chatID
        let actions: [AppAction] = [
            .popScreen, .openChat(chatID: chatID), .pushScreen(.groupInfo(chatID: chatID)), .popScreen,
            .pushScreen(.chat(chatID: "none")), .popScreen, .popScreen, .pushScreen(.newChat), .popScreen,
        ]
        for action in actions {
            world.act(1, action)
            world.settle()
            #expect(self.holdsInvariant(world[1].model.state), "after \(action)")
            if world[1].model.state.currentChat?.chatID == chatID {
                #expect(world[1].model.state.currentChat?.messages.map(\.content) == ["hello"], "after \(action)")
            }
        }
        world.act(1, .openChat(chatID: "00"), "unknown")
        #expect(world[1].outcomes["unknown"]?.failure == .unknownChat)
    }

    @Test func deliveryEndsAsSentOrFailed() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        world.say(0, "one")
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.pending])
        #expect(world[0].model.state.outbox.pending == 1)
        let first = try #require(world[0].publishing.last)
        world.answer(0, first.row, .accepted)
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.sent])
        world.now += 1000
        world.say(0, "two")
        let second = try #require(world[0].publishing.last)
        world.answer(0, second.row, .refused("blocked: no"))
        #expect(world[0].model.state.currentChat?.messages.last?.delivery == .failed("blocked: no"))
        #expect(world[0].model.state.outbox.pending == 0)
    }

    @Test func snapshotsHoldNoSecrets() throws {
        var world = try ReducerWorld.group(3)
        for index in 0..<3 { world.act(index, .openChat(chatID: world[index].chatID)) }
        world.say(0, "hello")
        world.settle()
        let id = try #require(world[0].durable.messages.first?.id)
        world.act(1, .reactToMessage(chatID: world[1].chatID, messageID: id, emoji: "+"))
        world.act(0, .sendMessage(chatID: world[0].chatID, OutgoingMessage(content: "", tags: [try self.file()])))
        world.act(0, .updateGroupKeys(chatID: world[0].chatID))
        world.settle()
        world.say(0, "refused")
        world.answer(0, try #require(world[0].publishing.last?.row), .refused("blocked: no"))
        world.act(2, .openChat(chatID: "nowhere"))
        for account in world.accounts {
            let search = SecretSearch(account.model.state)
            #expect(search.finds("hello") && search.finds("a.txt"), "the search must cover all fields")
            var leaky = account.model.state
            leaky.toast = Hex.encode(account.keys.secretBytes)
            #expect(SecretSearch(leaky).finds(account.keys.secretBytes))
            #expect(!search.finds(account.keys.secretBytes) && !search.finds(account.keys.nsec))
            #expect(!search.finds("nsec1") && !search.finds("Secret("))
            let group = try #require(account.group)
            var secrets = (0...group.epoch.rawValue).flatMap {
                account.model.media.secrets(of: group.groupID, around: Epoch(rawValue: $0))
            }
            secrets += account.durable.media.flatMap(\.keys)
            #expect(secrets.count > 5)
            for secret in secrets { #expect(!search.finds(secret.copyBytes())) }
            // Stored group values contain keys; names and public keys are shorter than this.
            for record in account.durable.state.groups.flatMap(\.records.values) {
                let bytes = record.copyBytes()
                guard bytes.count >= 96 else { continue }
                #expect(!search.finds(Array(bytes[..<96])))
            }
            for package in account.durable.state.keyPackages {
                #expect(!search.finds(Array(package.bundle.copyBytes().suffix(32))))
            }
        }
    }

    private func file() throws -> Nostr.Tag {
        Nostr.Tag(values: [
            "imeta", "url https://media.example/\(String(repeating: "ab", count: 32))", "m text/plain",
            "filename a.txt", "x \(String(repeating: "cd", count: 32))", "n \(String(repeating: "0", count: 24))",
            "v mip04-v2",
        ])
    }

    @Test func openChatKeepsNewestMessagesOnly() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        for number in 0...CoreModel.maximumShown { world.say(0, "\(number)") }
        let view = try #require(world[0].model.state.currentChat)
        #expect(view.messages.count == CoreModel.maximumShown)
        #expect(view.canLoadOlder)
    }
}
