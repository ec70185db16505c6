import BotKit
import Logging
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

struct HypernoteTests {
    private func operations(_ bot: ListedBot, _ event: CoreEvent) async throws -> [HandlerEffect.Operation] {
        let scope = scope(chats: [chatSummary("c1", isGroup: true)])
        let installed = InstalledBot(bot, label: "bot")
        guard let (_, work) = installed.work(for: .event(event), in: scope) else { return [] }
        let context = BotContext(
            bot: "bot", trigger: .event(event), scope: scope, nowMilliseconds: 1_700_000_000_000,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, readValue: { _ in nil },
            readMedia: { _, _ in [] })
        try await work(context)
        return try context.finish().map(\.operation)
    }

    private let bot = ListedBot {
        OnMessage { _, context in
            context.startTyping()
            context.send(Hypernote(content: "<SubmitButton action=\"go\"/>", title: "T"))
        }
        OnHypernoteAction("go") { action, message, context in
            context.send("\(action.form["to"] ?? "") \(message.target?.hex.last ?? "-")")
        }
        OnHypernoteAction { action, _, context in context.send("other: \(action.action)") }
        OnInnerEvent(.any) { _, context in context.send("inner") }
    }

    private func response(_ content: String, tags: [Nostr.Tag] = [.event(eventID(9))]) -> CoreEvent {
        arrived(content, kind: .hypernoteResponse, tags: tags)
    }

    @Test func sendsHypernote() async throws {
        let note = OutgoingMessage(
            kind: .hypernote, content: "<SubmitButton action=\"go\"/>", tags: [Nostr.Tag("title", "T")])
        #expect(
            try await self.operations(self.bot, arrived("hi"))
                == [.dispatch(.typingStarted(chatID: "c1")), .send(chatID: "c1", note)])
    }

    @Test(
        arguments: [
            (#"{"action":"go","form":{"to":"home"}}"#, [.event(eventID(9))], "home 9"),
            (#"{"action":"stay"}"#, [.event(eventID(9))], "other: stay"), (#"{"action":"go"}"#, [], "inner"),
            ("nothing", [.event(eventID(9))], "inner"),
        ] as [(String, [Nostr.Tag], String)])
    func routesAnswersToTheirHandler(content: String, tags: [Nostr.Tag], expected: String) async throws {
        #expect(
            try await self.operations(self.bot, self.response(content, tags: tags))
                == [.send(chatID: "c1", OutgoingMessage(content: expected))])
    }
}
