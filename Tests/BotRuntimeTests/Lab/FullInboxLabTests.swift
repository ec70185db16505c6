import BotTesting
import LiveTesting
import Synchronization
import Testing

/// Replies to each message; the message "first" waits for ``release()``.
private final class SlowBot: Bot {
    static let name = "slow"

    private let received = Mutex<[String]>([])
    private let first = Gate()

    init(settings: BotSettings = .null) {}

    var messages: [String] { received.withLock { $0 } }
    func release() { first.open() }

    var handlers: [Handler] {
        OnMessage { [self] message, context in
            received.withLock { $0.append(message.content) }
            if message.content == "first" { await first.passed() }
            context.reply("handled \(message.content)")
        }
    }
}

/// Inbox overflow with a bot that is too slow.
@Suite(.bounded)
struct FullInboxLabTests {
    @Test func droppedEventsReachNoHandler() async throws {
        let lab = try GroupLab(seed: 23)
        let alice = try await lab.member("alice")
        let bot = SlowBot()
        var retention = RetentionPolicy.standard
        retention.maximumUnhandled = 16
        let account = try await lab.bots(
            "bot", LabBots([LabBots.Entry(bot, label: "slow")]), retention: retention)
        let chat = try await alice.create("lab", inviting: [account])
        try await alice.say("first", in: chat)
        for number in 0..<30 { try await alice.say("\(number)", in: chat) }
        #expect(account.store.inbox.count == 16)
        bot.release()
        try await lab.settle()
        // One event was in flight; of the waiting ones, the newest were kept.
        let kept = ["first"] + (15..<30).map(String.init)
        #expect(bot.messages == kept)
        #expect(alice.heard(in: chat, from: account) == kept.map { "handled \($0)" })
        #expect(account.store.inbox.isEmpty)
    }

    @Test func fullChatDoesNotBlockOthers() async throws {
        let lab = try GroupLab(seed: 24)
        let alice = try await lab.member("alice")
        let bot = SlowBot()
        var retention = RetentionPolicy.standard
        retention.maximumUnhandled = 16
        let account = try await lab.bots(
            "bot", LabBots([LabBots.Entry(bot, label: "slow")]), retention: retention)
        let chat = try await alice.create("lab", inviting: [account])
        let other = try await alice.create("other", inviting: [account])
        try await alice.say("first", in: chat)
        for number in 0..<8 { try await alice.say("\(number)", in: chat) }
        try await alice.say("hello", in: other)
        #expect(alice.heard(in: other, from: account) == ["handled hello"])
        #expect(bot.messages == ["first", "hello"])
        bot.release()
        try await lab.settle()
        #expect(bot.messages.count == 10, "no event may be dropped below the limit")
    }
}
