import Logging
import Nostr
import Testing

@testable import BotKit
@testable import PikaCore

struct BotContextTests {
    private func context(_ event: CoreEvent, chats: [AppState.ChatSummary] = []) -> BotContext {
        BotContext(
            bot: "echo", trigger: .event(event), scope: scope(chats: chats), nowMilliseconds: 1_700_000_000_000,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, readValue: { _ in nil },
            readMedia: { _, index in [UInt8(index)] })
    }

    @Test func sendsAndFetchesFilesThroughCore() async throws {
        let file = OutgoingFile(bytes: [1], filename: "f", mediaType: "text/plain")
        let sent = try operations(.message(messageEvent("!x"))) { $0.send(media: [file], caption: "look") }
        #expect(
            sent == [.dispatch(.sendMedia(chatID: "c1", OutgoingMedia(files: [file], caption: "look")))])
        let imeta = Tag(
            "imeta", "url https://x.example/1", "m text/plain", "filename f", "x " + String(repeating: "0", count: 64),
            "n " + String(repeating: "0", count: 24), "v mip04-v2")
        let received = messageEvent("", tags: [imeta])
        let attachment = try #require(received.media.first)
        let found = try await context(coreEvent(1, .message(received))).download(attachment)
        #expect(found == [0])
        let joined = context(coreEvent(1, .joined(JoinEvent(inviter: key("a"), name: "", epoch: 1, memberCount: 2))))
        await #expect(throws: BotError.self) { try await joined.download(attachment) }
    }

    private func operations(
        _ content: CoreEvent.Content, _ body: (BotContext) throws -> Void
    ) throws -> [HandlerEffect.Operation] {
        let context = context(coreEvent(1, content))
        try body(context)
        return try context.finish().map(\.operation)
    }

    @Test func replyReferencesItsMessage() throws {
        let sent = try operations(.message(messageEvent("hi", id: 9))) { $0.reply("ho") }
        let tags = [Tag("e", eventID(9).hex), Tag("p", key("b").hex, ""), Tag("k", "9")]
        #expect(sent == [.send(chatID: "c1", OutgoingMessage(kind: .chatMessage, content: "ho", tags: tags))])
    }

    @Test func replyWithoutMessageIsPlain() throws {
        let sent = try operations(.commit(commitEvent())) { $0.reply("ho") }
        #expect(sent == [.send(chatID: "c1", OutgoingMessage(content: "ho"))])
    }

    @Test func sendAcceptsKindTagsAndChat() throws {
        let sent = try operations(.commit(commitEvent())) {
            $0.send("typing", kind: .typing, tags: [Tag("d", "pika")], to: "c2")
        }
        let message = OutgoingMessage(kind: .typing, content: "typing", tags: [Tag("d", "pika")])
        #expect(sent == [.send(chatID: "c2", message)])
    }

    @Test func acceptsEitherChatID() throws {
        let chats = [
            chatSummary("c1", isGroup: true, routingIDs: ["f1", "f2"]),
            chatSummary("c2", isGroup: true, routingIDs: ["f3"]), chatSummary("c3", isGroup: true, routingIDs: ["f2"]),
        ]
        let named: [(ChatID, ChatID)] = [("c2", "c2"), ("f3", "c2"), ("F1", "c1"), ("unknown", "unknown")]
        for (name, chatID) in named {
            let context = context(arrived("hi"), chats: chats)
            context.send("x", to: name)
            #expect(try context.finish().map(\.operation) == [.send(chatID: chatID, .text("x"))])
        }
        let ambiguous = context(arrived("hi"), chats: chats)
        ambiguous.send("x", to: "f2")
        #expect(#expect(throws: BotError.self) { try ambiguous.finish() }?.code == .ambiguousChat)
        let message = messageEvent("hi")
        let filters: [(ChatID, Bool)] = [("c1", true), ("F1", true), ("f2", false), ("c2", false)]
        for (name, matches) in filters {
            #expect(EventFilter.chat(name).matches(message, in: scope("c1", chats: chats)) == matches, "\(name)")
        }
    }

    @Test func answersAndEndsCalls() throws {
        let sent = try operations(.call(callEvent(callInvite))) {
            try $0.acceptCall()
            try $0.rejectCall(reason: "declined")
            try $0.endCall()
        }
        #expect(
            sent == [
                .dispatch(.acceptCall(chatID: "c1", callID: "call-1")),
                .dispatch(.rejectCall(chatID: "c1", callID: "call-1", reason: "declined")),
                .dispatch(.endCall(chatID: "c1", callID: "call-1", reason: "user_hangup")),
            ])
    }

    @Test func refusesAnswersOfOtherEventKinds() throws {
        let commit = context(coreEvent(1, .commit(commitEvent())))
        #expect(throws: BotError.self) { try commit.react("+") }
        #expect(#expect(throws: BotError.self) { try commit.react("+") }?.code == .noMessage)
        #expect(#expect(throws: BotError.self) { try commit.rejectCall(reason: "no") }?.code == .noCall)
        #expect(#expect(throws: BotError.self) { try commit.endCall() }?.code == .noCall)
        #expect(#expect(throws: BotError.self) { try commit.acceptCall() }?.code == .noCall)
        #expect(try commit.finish().isEmpty)
    }

    @Test func refusesEffectsAfterEnd() throws {
        let context = context(arrived("hi"))
        context.send("in time")
        #expect(try context.finish().count == 1)
        context.send("too late")
        #expect(try context.finish().count == 1)
    }

    @Test func eventKindsHaveDistinctIDs() {
        let join = JoinEvent(inviter: key("b"), name: "lab", epoch: 2, memberCount: 3)
        let contents: [CoreEvent.Content] = [
            .message(messageEvent("", id: 0xAB)), .commit(commitEvent()), .call(callEvent(callInvite)), .joined(join),
        ]
        #expect(
            contents.map { coreEvent(1, $0).inputID }
                == [eventID(0xAB).hex, eventID(5).hex, eventID(6).hex, "joined-c1-2"])
    }
}
