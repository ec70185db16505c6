import BotKit
import BotTesting
import CallMedia
import LiveTesting
import PikaCore
import Testing

/// The sample of docs/feeds.md.
private struct KitchenBot: Bot {
    static let name = "kitchen"
    private let chat: ChatID

    init(settings: BotSettings) throws {
        let reader = SettingsReader(settings)
        chat = ChatID(rawValue: reader.string("chat") ?? "")
        try reader.finish()
    }

    var handlers: [Handler] {
        OnFeed("orders") { item, context in
            guard let text = item.text else { return }
            context.send("New order: \(text)", to: chat)
        }
    }
}

/// The samples of docs/calls.md, and of docs/bot-services.md about the inbox.
private struct SampleBot: Bot {
    static let name = "orders"

    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnStart { context in
            let inbox = context.services.inbox
            try context.services.connect(
                "orders", BotConnectionRequest(url: "wss://shop.example/orders"),
                BotConnectionHandlers { message in
                    guard case .text(let text) = message else { return }
                    try? await inbox.add(FeedItem(feed: "orders", id: text, payload: Array(text.utf8)))
                })
        }
        OnFeed("orders") { item, context in
            for chat in context.snapshot.chatList { context.send("order \(item.text ?? "")", to: chat.chatID) }
        }
        OnCall(.invite) { invitation, context in
            let recording = try await context.answerCall { call in
                try await call.play(.tone(hertz: 880, for: .milliseconds(400)))
                return try await call.record(for: .seconds(20), clock: context.services.clock)
            }
            context.reply("\(recording.duration)")
        }
    }
}

/// Samples of the documentation that are not part of another test; `.ci/check-documentation` finds them here.
@Suite(.bounded) struct DocumentationSampleTests {
    @Test func kitchenPostsOrders() async throws {
        let lab = try GroupLab(seed: 61)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(KitchenBot.self, settings: .object(["chat": .string("none")]))
        let chat = try await alice.create("kitchen", inviting: [bot])
        try await bot.reconfigure([
            LabBots.Entry(
                try KitchenBot(settings: .object(["chat": .string(chat.rawValue)])), label: KitchenBot.name)
        ])
        try await bot.receive(FeedItem(feed: "orders", id: "1", payload: Array("soup".utf8)))
        #expect(alice.heard(in: chat, from: bot) == ["New order: soup"])
    }

    @Test func ordersArriveByConnection() async throws {
        let lab = try GroupLab(seed: 62)
        let alice = try await lab.member("alice")
        let connections = ScriptedConnections()
        let bot = try await lab.bot(SampleBot.self, services: BotServices(connections: connections))
        let chat = try await alice.create("orders", inviting: [bot])
        try await lab.advance(by: .seconds(1))
        let connection = try #require(connections.connections.first)
        for _ in 0..<2 { try await lab.run { await connection.deliver(.text("tea")) } }
        #expect(alice.heard(in: chat, from: bot) == ["order tea"])
    }

    @Test func callerIsRecorded() async throws {
        let lab = try GroupLab(seed: 63)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(SampleBot.self, services: BotServices(connections: ScriptedConnections()))
        let chat = try await alice.create("orders", inviting: [bot])
        let session = CallSession(moqURL: "https://moq.example", broadcastBase: "pika/calls", tracks: [.audio])
        try await alice.perform(.startCall(chatID: chat, session: session))
        let call = try await alice.call()
        try await lab.advance(by: .seconds(2))
        #expect(call.chunks.count == 20)
        try await call.say([UInt8](repeating: 1, count: 1920 * 25), taking: .seconds(2))
        let callID = try #require(try await alice.state().activeCall?.callID)
        try await alice.perform(.endCall(chatID: chat, callID: callID, reason: "user_hangup"))
        try await lab.settle()
        #expect(alice.heard(in: chat, from: bot) == ["0.5 seconds"])
    }
}
