import BotKit
import LiveTesting
import Logging
import Nostr
import ServiceLifecycle
import Synchronization
import Testing

@testable import BotDispatch
@testable import PikaCore

private struct Refusal: Error {}

/// Runs a dispatcher with these bots while `body` runs.
private func withDispatcher(
    _ bots: any Bot..., core: ScriptedCore, clock: StandingClock = StandingClock(), chats: Int = 16,
    body: () async throws -> Void
) async rethrows {
    let dispatcher = makeDispatcher(bots, core, clock, chats)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try? await dispatcher.run() }
        try await body()
        group.cancelAll()
    }
}

private func makeDispatcher(
    _ bots: [any Bot], _ core: ScriptedCore, _ clock: StandingClock, _ chats: Int = 16
) -> BotDispatcher {
    let installed = bots.enumerated().map { InstalledBot($0.element, label: "bot\($0.offset)") }
    var configuration = BotDispatcher.Configuration(accountName: "greeter")
    configuration.parallelChats = chats
    return BotDispatcher(
        bots: installed, core: core, clock: clock, configuration: configuration,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
}

private func sends(_ completion: Completion) -> [String] {
    completion.effects.compactMap { if case .send(_, let message) = $0.operation { message.content } else { nil } }
}

@Suite(.bounded)
struct BotDispatcherTests {
    @Test func effectsHaveStableIDs() async {
        let bot = ListedBot {
            OnMessage { message, context in
                context.reply("one")
                context.setText("x", forKey: "k")
                try context.react("👍")
            }
        }
        let message = messageEvent("hi")
        let expected = [
            HandlerEffect(
                id: "bot0/\(eventID(1).hex)/0",
                operation: .send(chatID: "c1", .text("one", replyingTo: message).marked(1))),
            HandlerEffect(
                id: "bot0/\(eventID(1).hex)/1", operation: .putValue(scope: "bot0", key: "k", value: [0x78])),
            HandlerEffect(
                id: "bot0/\(eventID(1).hex)/2", operation: .send(chatID: "c1", .reaction("👍", to: eventID(1)).marked(1))
            ),
        ].map(\.counted)
        // The same event gives the same ids in another process, even under another inbox row.
        for row in [7, 8] as [Int64] {
            let core = ScriptedCore()
            await withDispatcher(bot, core: core) {
                core.deliver(coreEvent(row, .message(message)))
                #expect(await core.completed(1) == [Completion(inboxID: row, effects: expected)])
            }
        }
    }

    @Test func handlesEventsOfAChatInOrder() async {
        let core = ScriptedCore()
        let bot = ListedBot { OnMessage { message, context in context.send(message.content) } }
        await withDispatcher(bot, core: core) {
            for number in 1...50 { core.deliver(arrived("\(number)", Int64(number))) }
            let completions = await core.completed(50)
            #expect(completions.map(\.inboxID) == Array(1...50))
            #expect(completions.flatMap(sends) == (1...50).map(String.init))
        }
    }

    @Test func handlesChatsConcurrently() async {
        let core = ScriptedCore()
        let other = Gate()
        let bot = ListedBot {
            OnMessage(.chat("a")) { _, _ in await other.passed() }
            OnMessage { _, _ in other.open() }
        }
        await withDispatcher(bot, core: core) {
            core.deliver(arrived("", 1, chat: "a"), arrived("", 2, chat: "b"))
            #expect(await core.completed(2).map(\.inboxID) == [2, 1])
        }
    }

    @Test func onlyFirstAcceptingHandlerRuns() async {
        let core = ScriptedCore()
        let bot = ListedBot {
            OnCommand("ping") { _, context in context.send("pong") }
            OnMessage { _, context in context.send("message") }
            OnMessage { _, context in context.send("never") }
        }
        await withDispatcher(bot, core: core) {
            core.deliver(arrived("/ping", 1), arrived("hi", 2), arrived("+", 3, kind: .reaction))
            #expect(await core.completed(3).map(sends) == [["pong"], ["message"], []])
        }
    }

    @Test func throwingHandlerLosesOnlyItsEffects() async {
        let core = ScriptedCore()
        let failing = ListedBot {
            OnMessage { _, context in
                context.send("lost")
                throw Refusal()
            }
        }
        let working = ListedBot { OnMessage { _, context in context.send("kept") } }
        await withDispatcher(failing, working, core: core) {
            core.deliver(arrived("", 1), arrived("", 2))
            let completions = await core.completed(2)
            #expect(completions.map(\.inboxID) == [1, 2])
            #expect(completions.map(sends) == [["kept"], ["kept"]])
            #expect(completions[0].effects.map(\.id) == ["bot1/\(eventID(1).hex)/0"])
        }
    }

    @Test func slowHandlerIsAbandoned() async {
        let (core, clock, stuck) = (ScriptedCore(), StandingClock(), Gate())
        let bot = ListedBot {
            OnMessage(.containing("stuck")) { _, context in
                context.send("early")
                await stuck.passed()
                context.send("late")
            }
            OnMessage { _, context in context.send("next") }
        }
        await withDispatcher(bot, core: core, clock: clock) {
            core.deliver(arrived("stuck", 1), arrived("hi", 2))
            await clock.waitForSleeper()
            clock.advance(by: .milliseconds(29_999))
            clock.advance(by: .milliseconds(1))
            // The handler ignores cancellation and still runs, but its chat continues.
            let completions = await core.completed(2)
            #expect(completions.map(\.inboxID) == [1, 2])
            #expect(completions.map(sends) == [[], ["next"]])
            stuck.open()
        }
    }

    @Test func nextHandlerSeesPendingValues() async {
        let core = ScriptedCore(stored: ["bot0.seen": Array("2".utf8)])
        let bot = ListedBot {
            OnMessage(.containing("forget")) { _, context in context.setText(nil, forKey: "seen") }
            OnMessage { _, context in
                let seen = try await context.text("seen").flatMap(Int.init) ?? 0
                context.setText("\(seen + 1)", forKey: "seen")
                let now = try await context.text("seen") ?? "none"
                context.send(now)
            }
        }
        await withDispatcher(bot, core: core) {
            core.deliver(arrived("", 1), arrived("", 2), arrived("forget", 3), arrived("", 4))
            #expect(await core.completed(4).map(sends) == [["3"], ["4"], [], ["1"]])
        }
    }

    @Test func contextHasTimeAccountAndSnapshot() async {
        let core = ScriptedCore(chats: [chatSummary("c1", isGroup: true, admins: [key("b")])])
        let bot = ListedBot {
            OnMessage(.fromAdmin) { _, context in
                context.send("\(context.now) \(context.account.hex.prefix(2)) \(context.chat?.name ?? "")")
            }
        }
        await withDispatcher(bot, core: core) {
            core.deliver(arrived("", 1, role: .admin), arrived("", 2, from: key("c")))
            #expect(await core.completed(2).map(sends) == [["1700000000 aa lab"], []])
        }
    }

    @Test func gracefulShutdownFinishesRunningJobs() async throws {
        let (core, began, finish) = (ScriptedCore(), Gate(), Gate())
        let bot = ListedBot {
            OnMessage { message, context in
                began.open()
                await finish.passed()
                context.send(message.content)
            }
        }
        let group = ServiceGroup(
            services: [makeDispatcher([bot], core, StandingClock())],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try? await group.run() }
            core.deliver(arrived("running", 1), arrived("waiting", 2))
            await began.passed()
            await group.triggerGracefulShutdown()
            finish.open()
            try await tasks.waitForAll()
        }
        core.complete(-1, effects: [])
        let completions = await core.completed(2)
        #expect(completions.map(\.inboxID) == [1, -1])
        #expect(completions.map(sends) == [["running"], []])
    }

    @Test func cancelledEventStaysOpen() async {
        let (core, began, finish) = (ScriptedCore(), Gate(), Gate())
        let bot = ListedBot {
            OnMessage { _, _ in
                began.open()
                await finish.passed()
            }
        }
        let dispatcher = makeDispatcher([bot], core, StandingClock())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await dispatcher.run() }
            core.deliver(arrived("", 1))
            await began.passed()
            group.cancelAll()
            finish.open()
        }
        core.complete(-1, effects: [])
        #expect(await core.completed(1).map(\.inboxID) == [-1])
    }
}
