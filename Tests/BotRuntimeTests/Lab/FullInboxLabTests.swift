import BotTesting
import LiveTesting
import Synchronization
import Testing

/// Replies to each message; the first reply waits until it is released.
private final class PayingBot: Bot {
    static let name = "paying"

    private let paid = Mutex<[String]>([])
    private let first = Gate()

    init(settings: BotSettings = .null) {}

    var bills: [String] { paid.withLock { $0 } }
    func letGo() { first.open() }

    var handlers: [Handler] {
        OnMessage { [self] message, context in
            paid.withLock { $0.append(message.content) }
            if message.content == "first" { await first.passed() }
            context.reply("paid \(message.content)")
        }
    }
}

/// Events beyond the inbox's bound, with a bot that does not keep up.
@Suite(.bounded)
struct FullInboxLabTests {
    @Test func droppedEventsNeverRun() async throws {
        let lab = try GroupLab(seed: 23)
        let alice = try await lab.member("alice")
        let bot = PayingBot()
        var retention = RetentionPolicy.standard
        retention.maximumUnhandled = 16
        let account = try await lab.bots(
            "bot", LabBots([LabBots.Entry(bot, label: "paying")]), retention: retention)
        let chat = try await alice.create("lab", inviting: [account])
        try await alice.say("first", in: chat)
        for number in 0..<30 { try await alice.say("\(number)", in: chat) }
        #expect(account.store.inbox.count == 16)
        bot.letGo()
        try await lab.settle()
        // One was handed out, and the newest waited.
        let kept = ["first"] + (15..<30).map(String.init)
        #expect(bot.bills == kept)
        #expect(alice.heard(in: chat, from: account) == kept.map { "paid \($0)" })
        #expect(account.store.inbox.isEmpty)
    }

    @Test func fullChatDoesNotBlockOthers() async throws {
        let lab = try GroupLab(seed: 24)
        let alice = try await lab.member("alice")
        let bot = PayingBot()
        var retention = RetentionPolicy.standard
        retention.maximumUnhandled = 16
        let account = try await lab.bots(
            "bot", LabBots([LabBots.Entry(bot, label: "paying")]), retention: retention)
        let chat = try await alice.create("lab", inviting: [account])
        let other = try await alice.create("other", inviting: [account])
        try await alice.say("first", in: chat)
        for number in 0..<8 { try await alice.say("\(number)", in: chat) }
        try await alice.say("hello", in: other)
        #expect(alice.heard(in: other, from: account) == ["paid hello"])
        #expect(bot.bills == ["first", "hello"])
        bot.letGo()
        try await lab.settle()
        #expect(bot.bills.count == 10, "nothing is lost below the bound")
    }
}
