import BotTesting
import LiveTesting
import Testing

/// Announces each order in every chat, with its number.
private struct KitchenBot: Bot {
    static let name = "kitchen"
    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnFeed("orders") { item, context in
            let number = (Int(try await context.text("orders") ?? "0") ?? 0) + 1
            context.setText("\(number)", forKey: "orders")
            for chat in context.snapshot.chatList {
                context.send("order \(number): \(item.text ?? "?")", to: chat.chatID)
            }
        }
        OnMessage { message, context in context.reply("heard \(message.content)") }
    }
}

@Suite(.bounded)
struct FeedLabTests {
    private func order(_ id: String, _ text: String) -> FeedItem {
        FeedItem(feed: "orders", id: id, payload: Array(text.utf8))
    }

    @Test func itemReachesTheGroupOnce() async throws {
        let lab = try GroupLab(seed: 5)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(KitchenBot.self)
        let chat = try await alice.create("kitchen", inviting: [bot])
        let isNew = try await bot.receive(order("1", "soup"))
        let isNewAgain = try await bot.receive(order("1", "soup"))
        #expect(isNew && !isNewAgain)
        bot.crash()
        try await bot.restart()
        let isNewAfterCrash = try await bot.receive(order("1", "soup"))
        try await bot.receive(order("2", "tea"))
        #expect(!isNewAfterCrash)
        #expect(alice.heard(in: chat, from: bot) == ["order 1: soup", "order 2: tea"])
    }

    /// Reports each message of a chat by its own feed, twice.
    private struct ReporterBot: Bot {
        static let name = "reporter"
        init(settings: BotSettings) {}

        var handlers: [Handler] {
            OnMessage { message, context in
                let inbox = context.services.inbox
                guard message.content != "empty" else {
                    do throws(BotError) { try await inbox.add(FeedItem(feed: "reports", id: "", payload: [])) } catch {
                        context.reply("\(error.code)")
                    }
                    return
                }
                let item = FeedItem(
                    feed: "reports", id: message.id.hex, payload: Array(message.content.utf8),
                    name: context.chatID.rawValue)
                context.services.resources.background.start {
                    for _ in 0..<2 { try? await inbox.add(item) }
                }
            }
            OnFeed("reports") { item, context in
                context.send("report: \(item.text ?? "?")", to: ChatID(rawValue: item.name ?? ""))
            }
        }
    }

    @Test func backgroundWorkReportsOnce() async throws {
        let lab = try GroupLab(seed: 7)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(ReporterBot.self)
        let chat = try await alice.create("kitchen", inviting: [bot])
        try await alice.say("hello", in: chat)
        bot.crash()
        try await bot.restart()
        try await alice.say("again", in: chat)
        #expect(alice.heard(in: chat, from: bot) == ["report: hello", "report: again"])
        try await alice.say("empty", in: chat)
        #expect(alice.heard(in: chat, from: bot).last == "request_failed")
    }

    @Test func chatsAndFeedsShareTheBot() async throws {
        let lab = try GroupLab(seed: 6)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(KitchenBot.self)
        let chat = try await alice.create("kitchen", inviting: [bot])
        try await alice.say("hello", in: chat)
        try await bot.receive(order("1", "soup"))
        #expect(Set(alice.heard(in: chat, from: bot)) == ["heard hello", "order 1: soup"])
    }
}
