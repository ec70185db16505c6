import BotKit
import EchoBot
import Logging
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

/// Returns the effects of a bot for an event.
private func answer(of bot: any Bot, to event: CoreEvent) async throws -> [HandlerEffect.Operation] {
    let installed = InstalledBot(bot, label: "bot")
    let scope = scope(chats: [chatSummary("c1", isGroup: true)])
    guard let (_, work) = installed.work(for: .event(event), in: scope) else { return [] }
    let context = BotContext(
        bot: "bot", trigger: .event(event), scope: scope, nowMilliseconds: 1_700_000_000_000,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, readValue: { _ in nil },
        readMedia: { _, index in [UInt8(index)] })
    try await work(context)
    return try context.finish().map(\.operation)
}

private func sending(_ text: String) -> [HandlerEffect.Operation] {
    [.send(chatID: "c1", OutgoingMessage(content: text))]
}

struct EchoBotTests {
    private let bot: EchoBot

    init() throws { bot = try EchoBot(settings: .object([:])) }

    @Test func echoesTextsAsReplies() async throws {
        let message = messageEvent("hello, world")
        let expected = OutgoingMessage.text("echo: hello, world", replyingTo: message)
        #expect(try await answer(of: bot, to: coreEvent(1, .message(message))) == [.send(chatID: "c1", expected)])
    }

    @Test func ignoresOtherKinds() async throws {
        #expect(try await answer(of: bot, to: arrived("+", kind: .reaction)).isEmpty)
        #expect(try await answer(of: bot, to: arrived("typing", kind: .typing)).isEmpty)
    }

    @Test(arguments: [
        (commitEvent(name: ("a", "b")), "renamed \"a\" → \"b\""),
        (commitEvent(added: [key("c"), key("d")]), "added cccccccc, dddddddd"),
        (commitEvent(removed: [key("c")]), "removed cccccccc"),
        (commitEvent(), "updated its keys"),
        (commitEvent(description: true), "changed the description"),
        (commitEvent(relays: true), "changed the relays"),
        (
            commitEvent(adminsAdded: [key("c")], adminsRemoved: [key("d")]),
            "made admin cccccccc; no longer admin dddddddd"
        ),
        (
            commitEvent(added: [key("c")], removed: [key("d")], name: ("a", "b")),
            "renamed \"a\" → \"b\"; added cccccccc; removed dddddddd"
        ),
    ])
    func reportsCommitsOfOthers(commit: CommitEvent, changes: String) async throws {
        let expected = sending("commit by bbbbbbbb: \(changes) (epoch 3 → 4)")
        #expect(try await answer(of: bot, to: coreEvent(1, .commit(commit))) == expected)
    }

    @Test func ignoresOwnCommitsAndRemoval() async throws {
        #expect(try await answer(of: bot, to: coreEvent(1, .commit(commitEvent(isOwn: true)))).isEmpty)
        #expect(try await answer(of: bot, to: coreEvent(1, .commit(commitEvent(removedSelf: true)))).isEmpty)
    }

    @Test func rejectsCallsAndIgnoresOtherSignals() async throws {
        let refusal = HandlerEffect.Operation.dispatch(
            .rejectCall(chatID: "c1", callID: "call-1", reason: "declined"))
        #expect(try await answer(of: bot, to: coreEvent(1, .call(callEvent(callInvite)))) == [refusal])
        #expect(try await answer(of: bot, to: coreEvent(1, .call(callEvent(.end(reason: "timeout"))))).isEmpty)
    }
}

struct SmallestBotTests {
    @Test func answersCommandAndMention() async throws {
        let bot = GreeterBot(settings: .object([:]))
        let ping = messageEvent("/ping")
        #expect(
            try await answer(of: bot, to: coreEvent(1, .message(ping)))
                == [.send(chatID: "c1", .text("pong", replyingTo: ping))])
        let mention = messageEvent("hi @greeter")
        #expect(
            try await answer(of: bot, to: coreEvent(1, .message(mention)))
                == [.send(chatID: "c1", .text("hello, \(key("b").npub)", replyingTo: mention))])
        #expect(try await answer(of: bot, to: arrived("hi")).isEmpty)
    }
}
