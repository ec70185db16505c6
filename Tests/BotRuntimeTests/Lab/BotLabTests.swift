import BotDispatch
import BotTesting
import LiveTesting
import Testing

/// A bot that throws, hangs or answers.
private struct RiskyBot: Bot {
    static let name = "risky"
    private struct Broken: Error {}

    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnCommand("throw") { _, context in
            context.send("lost")
            throw Broken()
        }
        OnCommand("hang") { _, _ in try await Task.sleep(for: .seconds(86_400)) }  // not live: cancelled
        OnCommand("stuck") { _, context in
            // Ignores cancellation.
            let never = AsyncStream<Void> { _ in }
            await Task { for await _ in never {} }.value
            context.send("never")
        }
        OnMessage { message, context in context.reply("heard \(message.content)") }
    }

    var errorHandlers: [BotErrorHandler] { [.reply(to: Broken.self) { _ in "that broke" }] }
}

/// Announces every full hour.
private struct HourBot: Bot {
    static let name = "hours"
    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnSchedule("hour", .every(.seconds(3600)), catchesUp: true) { context in
            guard case .schedule(let run) = context.trigger else { return }
            for chat in context.snapshot.chatList {
                context.send("\(run.dueMilliseconds / 3_600_000)\(run.isCatchUp ? " late" : "")", to: chat.chatID)
            }
        }
        OnStart { context in context.setText("\(context.now)", forKey: "started") }
    }
}

private struct Setup {
    let lab: GroupLab
    let alice: LabMember
    let bot: LabMember
    let chat: ChatID

    init<B: Bot>(_ type: B.Type, seed: UInt64 = 5) async throws {
        lab = try GroupLab(seed: seed)
        alice = try await lab.member("alice")
        bot = try await lab.bot(type)
        chat = try await alice.create("lab", inviting: [bot])
    }

    var answers: [String] { alice.heard(in: chat, from: bot) }
}

/// Runs a scenario once per crash point, before and after each commit of the bot's store, until the scenario ends
/// without reaching the point. Returns the number of crashes.
private func crashAtEveryCommit<B: Bot>(
    _ type: B.Type, _ scenario: (Setup, _ restartIfCrashed: () async throws -> Void) async throws -> Void
)
    async throws -> Int
{
    var crashes = 0
    for isBefore in [true, false] {
        for offset in 1... {
            let setup = try await Setup(type)
            let commit = setup.bot.store.commitCount + offset
            setup.bot.crash(isBefore ? .before(commit: commit) : .after(commit: commit))
            var hasCrashed = false
            try await scenario(setup) {
                guard setup.bot.hasCrashed else { return }
                hasCrashed = true
                try await setup.bot.restart()
            }
            guard hasCrashed else { break }
            crashes += 1
        }
    }
    return crashes
}

@Suite(.bounded)
struct BotLabTests {
    @Test func conversationSurvivesAnyCrash() async throws {
        let crashes = try await crashAtEveryCommit(OrderBot.self) { setup, restartIfCrashed in
            for line in ["/order", "soup", "2", "bye"] {
                try await setup.alice.say(line, in: setup.chat)
                try await restartIfCrashed()
            }
            #expect(setup.answers == ["What?", "How many?", "2 × soup", "hm, bye"])
        }
        #expect(crashes >= 16)
    }

    @Test func timeoutFiresOnceDespiteCrashes() async throws {
        let crashes = try await crashAtEveryCommit(OrderBot.self) { setup, restartIfCrashed in
            for line in ["/order", "soup"] {
                try await setup.alice.say(line, in: setup.chat)
                try await restartIfCrashed()
            }
            try await setup.lab.advance(by: .seconds(301))
            try await restartIfCrashed()
            try await setup.alice.say("bye", in: setup.chat)
            try await restartIfCrashed()
            #expect(setup.answers == ["What?", "How many?", "No soup, then.", "hm, bye"])
        }
        #expect(crashes >= 14)
    }

    @Test func missedTimeoutFiresAfterStart() async throws {
        let setup = try await Setup(OrderBot.self)
        try await setup.alice.say("/order", in: setup.chat)
        setup.bot.crash()
        try await setup.lab.advance(by: .seconds(3600))
        try await setup.bot.restart()
        #expect(setup.answers == ["What?", "No order, then."])
    }

    @Test func scheduleRunsOnceDespiteCrashes() async throws {
        let crashes = try await crashAtEveryCommit(HourBot.self) { setup, restartIfCrashed in
            for _ in 0..<2 {
                try await setup.lab.advance(by: .seconds(3600))
                try await restartIfCrashed()
            }
            let hours = setup.answers.map { $0.replacing(" late", with: "") }
            #expect(hours == ["500001", "500002"])
        }
        #expect(crashes >= 4)
    }

    @Test func catchesUpMissedRunsOnce() async throws {
        let setup = try await Setup(HourBot.self)
        try await setup.lab.advance(by: .seconds(3600))
        setup.bot.crash()
        try await setup.lab.advance(by: .seconds(5 * 3600 + 60))
        try await setup.bot.restart()
        // Later starts do not catch up the other missed runs.
        for _ in 0..<2 {
            setup.bot.crash()
            try await setup.bot.restart()
        }
        try await setup.lab.advance(by: .seconds(3600))
        #expect(setup.answers == ["500001", "500002 late", "500007"])
    }

    @Test func pausedRunsAreNotCaughtUp() async throws {
        let setup = try await Setup(HourBot.self)
        try await setup.bot.setPaused(true, HourBot.name)
        try await setup.lab.advance(by: .seconds(2 * 3600))
        try await setup.bot.setPaused(false, HourBot.name)
        setup.bot.crash()
        try await setup.bot.restart()
        #expect(setup.answers == [])
        // The same holds if the process restarts during the pause.
        try await setup.bot.setPaused(true, HourBot.name)
        setup.bot.crash()
        try await setup.lab.advance(by: .seconds(2 * 3600))
        try await setup.bot.restart()
        try await setup.bot.setPaused(false, HourBot.name)
        setup.bot.crash()
        try await setup.bot.restart()
        try await setup.lab.advance(by: .seconds(3600))
        #expect(setup.answers == ["500005"])
    }

    @Test func performsEffectsExactlyOnce() async throws {
        let setup = try await Setup(RiskyBot.self)
        let effects = [
            HandlerEffect(id: "x/0", operation: .send(chatID: setup.chat, OutgoingMessage(content: "once"))),
            HandlerEffect(id: "x/1", operation: .putValue(scope: "x", key: "k", value: [1])),
        ]
        for isAfterRestart in [false, false, true] {
            if isAfterRestart {
                setup.bot.crash()
                try await setup.bot.restart()
            }
            setup.bot.core.perform(effects, request: .once("x"))
            try await setup.lab.settle()
        }
        #expect(setup.answers == ["once"])
        setup.bot.core.perform(effects, request: .once("y"))
        try await setup.lab.settle()
        #expect(setup.answers == ["once", "once"])
    }

    @Test(arguments: [GroupLab.Schedule.inOrder, .shuffled])
    func failingHandlersDoNotBlockOthers(schedule: GroupLab.Schedule) async throws {
        let lab = try GroupLab(seed: 9, schedule: schedule)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(RiskyBot.self)
        let chat = try await alice.create("lab", inviting: [bot])
        let other = try await alice.create("other", inviting: [bot])
        for line in ["/throw", "/hang", "/stuck", "one"] { try await alice.say(line, in: chat) }
        try await alice.say("two", in: other)
        #expect(alice.heard(in: chat, from: bot) == ["that broke"])
        #expect(alice.heard(in: other, from: bot) == ["heard two"])
        try await lab.advance(by: .seconds(31))
        #expect(alice.heard(in: chat, from: bot) == ["that broke"])
        try await lab.advance(by: .seconds(31))
        #expect(alice.heard(in: chat, from: bot) == ["that broke", "heard one"])
    }

    @Test func restartHandlesEventsOfHangingBot() async throws {
        let lab = try GroupLab(seed: 4)
        let alice = try await lab.member("alice")
        let bots = try await lab.bots(
            "both",
            LabBots([
                LabBots.Entry(OrderBot(settings: .null), label: "order"),
                LabBots.Entry(RiskyBot(settings: .null), label: "risky"),
            ]))
        let chat = try await alice.create("lab", inviting: [bots])
        for _ in 0..<16 {
            try await alice.say("/stuck", in: chat)
            try await lab.advance(by: .seconds(31))
        }
        let event = try await alice.say("one", in: chat)
        try await alice.say("two", in: chat)
        let before = alice.heard(in: chat, from: bots).filter { $0 != "hm, /stuck" }
        #expect(before == ["hm, one", "hm, two"])
        #expect(bots.store.inbox.count == 2)
        #expect(bots.why(event).contains { $0.contains("bot risky: it waits, because too many") })
        bots.crash()
        try await bots.restart()
        let answers = alice.heard(in: chat, from: bots).filter { $0 != "hm, /stuck" }
        #expect(answers == ["hm, one", "hm, two", "heard one", "heard two"])
        #expect(bots.store.inbox.isEmpty)
    }

    @Test func replacesBotsOfSharedAccount() async throws {
        let lab = try GroupLab(seed: 3)
        let alice = try await lab.member("alice")
        let order = LabBots.Entry(OrderBot(settings: .null), label: "order")
        let risky = LabBots.Entry(
            RiskyBot(settings: .null), label: "risky", policy: BotPolicy(groups: GroupPolicy(.mention)))
        let bots = try await lab.bots("both", LabBots([order, risky]))
        let carol = try await lab.member("carol")
        let chat = try await alice.create("lab", inviting: [bots, carol])
        try await alice.say("a", in: chat)
        try await alice.say("hello both", in: chat)
        #expect(alice.heard(in: chat, from: bots) == ["hm, a", "hm, hello both", "heard hello both"])
        try await bots.setPaused(true, "order")
        try await alice.say("both b", in: chat)
        try await bots.reconfigure([order])
        try await alice.say("c", in: chat)
        try await bots.setPaused(false, "order")
        try await alice.say("d", in: chat)
        #expect(
            alice.heard(in: chat, from: bots) == [
                "hm, a", "hm, hello both", "heard hello both", "heard both b", "hm, d",
            ])
    }
}
