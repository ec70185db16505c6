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
