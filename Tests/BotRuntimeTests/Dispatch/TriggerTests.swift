import BotKit
import Errors
import LiveTesting
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import BotDispatch
@testable import PikaCore

private struct Refusal: Error {}
private struct Misuse: Error {}

private func middleware(_ name: String) -> BotMiddleware {
    BotMiddleware { context, next in
        context.send("\(name) before")
        try await next()
        context.send("\(name) after")
    }
}

@Suite(.bounded)
struct TriggerTests {
    // MARK: Middleware and errors

    @Test func middlewareRunsInOrder() async {
        let bot = ListedBot { OnMessage { _, context in context.send("handler") } }
            .with(middleware: [middleware("a"), middleware("b")])
        await Stage(bot).run { stage in
            stage.core.deliver(arrived("", 1))
            let completion = await stage.core.completed(1)[0]
            #expect(texts(completion.effects) == ["a before", "b before", "handler", "b after", "a after"])
            #expect(completion.effects.map(\.id) == (0..<5).map { "bot0/\(eventID(1).hex)/\($0)" })
        }
    }

    @Test func middlewareCanStopHandler() async {
        let guardian = BotMiddleware { context, next in
            if context.message?.content == "no" {
                context.send("stopped")
                return
            }
            try await next()
        }
        let bot = ListedBot { OnMessage { _, context in context.send("handler") } }
            .with(middleware: [guardian, middleware("in")])
        await Stage(bot).run { stage in
            stage.core.deliver(arrived("no", 1), arrived("yes", 2))
            #expect(
                await stage.core.completed(2).map { texts($0.effects) }
                    == [["stopped"], ["in before", "handler", "in after"]])
        }
    }

    @Test func errorHandlersRunUntilOneHandles() async {
        let calls = Mutex<[String]>([])
        let bot = ListedBot {
            OnMessage(.containing("misuse")) { _, context in
                context.send("lost")
                context.setText("lost", forKey: "k")
                throw Misuse()
            }
            OnMessage { _, _ in throw Refusal() }
        }.with(errorHandlers: [
            BotErrorHandler { error, context in
                calls.withLock { $0.append("first \(error)") }
                context.send("seen")
                return .passOn
            },
            BotErrorHandler { error, context in
                context.send("lost too")
                throw error
            },
            .reply(to: Misuse.self) { _ in "so not" },
            BotErrorHandler { error, _ in
                calls.withLock { $0.append("last \(error)") }
                return .passOn
            },
        ])
        await Stage(bot).run { stage in
            stage.core.deliver(arrived("misuse", 1), arrived("", 2))
            let completions = await stage.core.completed(2)
            #expect(completions.map { texts($0.effects) } == [["seen", "so not"], ["seen"]])
            #expect(
                completions[0].effects.map(\.id)
                    == ["bot0/\(eventID(1).hex)/error-0/0", "bot0/\(eventID(1).hex)/error-2/0"])
            #expect(calls.withLock { $0 } == ["first Misuse()", "first Refusal()", "last Refusal()"])
        }
    }

    @Test func timeoutIsAnError() async {
        let (stuck, clock) = (Gate(), StandingClock())
        let bot = ListedBot { OnMessage { _, _ in await stuck.passed() } }.with(errorHandlers: [
            BotErrorHandler { error, context in
                context.reply("sorry: \((error as? BotError)?.code.description ?? "")")
                return .handled
            }
        ])
        await Stage(bot, clock: clock).run { stage in
            stage.core.deliver(arrived("", 1))
            await clock.waitForSleeper()
            clock.advance(by: .seconds(30))
            #expect(await stage.core.completed(1).map { texts($0.effects) } == [["sorry: timed_out"]])
            stuck.open()
        }
    }

    @Test func sendWithoutChatFailsHandler() async {
        let bot = ListedBot {
            OnStart { context in
                context.send("somewhere", to: "c1")
                context.send("nowhere")
            }
        }.with(errorHandlers: [
            BotErrorHandler { error, context in
                context.send("\((error as? BotError)?.code.description ?? "")", to: "c1")
                return .handled
            }
        ])
        await Stage(bot).run { stage in
            #expect(await stage.core.performed(1).map { texts($0.effects) } == [["no_chat"]])
        }
    }

    // MARK: Hanging handlers

    @Test func eventsWaitForHangingHandlers() async throws {
        let (gates, clock) = ((0..<17).map { _ in Gate() }, StandingClock())
        let bot = ListedBot {
            OnMessage(.containing("hang")) { message, _ in
                await gates[Int(message.content.dropFirst(4)) ?? 0].passed()
            }
            OnMessage { _, context in context.send("here") }
        }
        try await Stage(bot, ListedBot { OnMessage { _, context in context.send("other") } }, clock: clock).run {
            stage in
            for number in 0..<16 {
                stage.core.deliver(arrived("hang\(number)", Int64(number + 1), chat: ChatID(rawValue: "c\(number)")))
                await clock.waitForSleeper()
                clock.advance(by: .seconds(30))
                #expect(await stage.core.completed(1).map { texts($0.effects) } == [["other"]])
                // The other bot's timeout.
                await clock.waitForSleeper()
            }
            #expect(stage.dispatcher.hangingHandlers == ["bot0": 15])
            clock.advance(by: .seconds(10))
            #expect(stage.dispatcher.hangingHandlers == ["bot0": 16])
            // Other bots are not blocked, and nothing is lost.
            stage.core.deliver(arrived("", 100), arrived("", 101))
            let effects = await stage.core.performed(2)
            #expect(effects.map(\.request) == ["bots/held/100", "bots/held/101"])
            #expect(effects.map { texts($0.effects) } == [["other"], ["other"]])
            #expect(
                effects[0].effects.last?.operation
                    == .putValue(scope: "pikabot/held", key: "100", value: Array("bot0".utf8)))
            gates[3].open()
            try await eventually("one handler ends") { stage.dispatcher.hangingHandlers != ["bot0": 16] }
            let completions = await stage.core.completed(2)
            #expect(completions.map(\.inboxID) == [100, 101])
            #expect(completions.map { texts($0.effects) } == [["here"], ["here"]])
            #expect(completions[0].effects.last?.operation == .putValue(scope: "pikabot/held", key: "100", value: nil))
            stage.core.deliver(arrived("", 102))
            #expect(await stage.core.completed(1).map { texts($0.effects) } == [["here", "other"]])
            for gate in gates { gate.open() }
        }
    }

    @Test func waitingEventsKeepTheirOrder() async throws {
        let (stuck, began, finish, clock) = (Gate(), Gate(), Gate(), StandingClock())
        let bot = ListedBot {
            OnMessage(.containing("hang")) { _, _ in await stuck.passed() }
            OnMessage(.containing("say")) { message, context in context.send(message.content) }
        }
        let other = ListedBot {
            OnMessage(.containing("block")) { _, _ in
                began.open()
                await finish.passed()
            }
        }
        try await Stage(bot, other, clock: clock).run { stage in
            for number in 1...16 {
                stage.core.deliver(arrived("hang", Int64(number), chat: ChatID(rawValue: "c\(number)")))
                await clock.waitForSleeper()
                clock.advance(by: .seconds(30))
                _ = await stage.core.completed(1)
            }
            stage.core.deliver(arrived("say 1", 100, chat: "c"))
            #expect(await stage.core.performed(1).map(\.request) == ["bots/held/100"])
            stage.core.deliver(arrived("block", 101, chat: "c"), arrived("say 2", 102, chat: "c"))
            await began.passed()
            // Queued again, behind later events.
            stuck.open()
            try await eventually("no handler hangs") { stage.dispatcher.hanging.count(of: "bot0") == 0 }
            _ = await stage.dispatcher.isResponsive()
            finish.open()
            let completions = await stage.core.completed(3)
            #expect(completions.map(\.inboxID) == [101, 100, 102])
            #expect(completions.map { texts($0.effects) } == [[], ["say 1"], ["say 2"]])
        }
    }

    @Test func pauseReleasesWaitingEvents() async throws {
        let (stuck, clock) = (Gate(), StandingClock())
        try await Stage(ListedBot { OnMessage { _, _ in await stuck.passed() } }, clock: clock).run { stage in
            for number in 1...16 {
                stage.core.deliver(arrived("", Int64(number), chat: ChatID(rawValue: "c\(number)")))
                await clock.waitForSleeper()
                clock.advance(by: .seconds(30))
                _ = await stage.core.completed(1)
            }
            stage.core.deliver(arrived("", 100))
            try await eventually("the event is held") { stage.dispatcher.held.bots(of: arrived("", 100)) != nil }
            stage.dispatcher.pause("bot0")
            #expect(await stage.core.completed(1).map(\.inboxID) == [100])
            stuck.open()
        }
    }

    @Test func waitingEventsKeepTheirBotAfterRestart() async {
        func bot(_ text: String) -> ListedBot { ListedBot { OnMessage { _, context in context.send(text) } } }
        let core = ScriptedCore(stored: ["pikabot/held.100": Array("bot0".utf8)], newestInboxID: 101)
        await Stage(bot("here"), bot("other"), core: core).run { stage in
            stage.core.deliver(arrived("", 100), arrived("", 101))
            let completions = await stage.core.completed(2)
            #expect(completions.map { texts($0.effects) } == [["here"], ["here", "other"]])
            #expect(completions[0].effects.last?.operation == .putValue(scope: "pikabot/held", key: "100", value: nil))
        }
    }

    // MARK: Start, stop, schedules, timers

    @Test func startsBotBeforeFirstEvent() async {
        let bot = ListedBot {
            OnStart { context in context.setText("ready", forKey: "state") }
            OnMessage { _, context in context.send(try await context.text("state") ?? "not yet") }
        }
        let core = ScriptedCore()
        core.deliver(arrived("", 1))
        await Stage(bot, core: core).run { stage in
            let start = await core.performed(1)[0]
            #expect(start.request == "bots/bot0/start-1700000000000")
            #expect(start.effects.map(\.id) == ["bot0/start-1700000000000/0"])
            #expect(await core.completed(1).map { texts($0.effects) } == [["ready"]])
        }
    }

    @Test func hangingStartDelaysEventsUntilTimeout() async {
        let (stuck, clock) = (Gate(), StandingClock())
        let bot = ListedBot {
            OnStart { _ in await stuck.passed() }
            OnMessage { _, context in context.send("here") }
        }
        await Stage(bot, clock: clock).run { stage in
            stage.core.deliver(arrived("", 1))
            await clock.waitForSleeper()
            #expect(await stage.dispatcher.isResponsive())
            clock.advance(by: .seconds(30))
            #expect(await stage.core.completed(1).map { texts($0.effects) } == [["here"]])
            stuck.open()
        }
    }

    @Test func stopsBotAfterLastEvent() async throws {
        let (core, clock, began, finish, stuck) = (ScriptedCore(), StandingClock(), Gate(), Gate(), Gate())
        let bot = ListedBot {
            OnMessage { _, context in
                began.open()
                await finish.passed()
                context.setText("seen", forKey: "last")
            }
            OnStop { context in context.send("bye, \(try await context.text("last") ?? "")", to: "c1") }
        }
        let hanging = ListedBot { OnStop { _ in await stuck.passed() } }
        let stage = Stage(bot, hanging, core: core, clock: clock)
        let group = ServiceGroup(
            services: [stage.dispatcher], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try? await group.run() }
            core.deliver(arrived("", 1))
            await began.passed()
            await group.triggerGracefulShutdown()
            finish.open()
            let stop = await core.performed(1)[0]
            #expect(stop.request == "bots/bot0/stop-1700000000000")
            #expect(texts(stop.effects) == ["bye, seen"])
            // The event's timeout, then those of the two stops.
            for _ in 0..<3 { await clock.waitForSleeper() }
            clock.advance(by: .seconds(3))
            try await tasks.waitForAll()
        }
        stuck.open()
    }

    @Test func unreadableStoreEndsDispatcher() async {
        let bot = ListedBot { OnMessage { _, _ in } }
        await #expect(throws: Refusal.self) {
            try await Stage(bot, core: ScriptedCore(failure: Refusal())).dispatcher.run()
        }
    }

    @Test func schedulesRunOnTimeWithMarker() async {
        let clock = StandingClock(milliseconds: 1_700_000_030_000)
        let bot = ListedBot { OnSchedule("tick", .every(.seconds(60))) { context in context.send("tick", to: "c1") } }
        await Stage(bot, clock: clock).run { stage in
            let marks = await stage.core.performed(1)[0]
            #expect(
                marks.effects.map(\.operation) == [
                    .putValue(scope: "bot0/schedules", key: "tick", value: Array("1700000030000".utf8))
                ])
            for time in [1_700_000_040_000, 1_700_000_100_000] as [Int64] {
                await clock.waitForSleeper()
                clock.advance(by: .milliseconds(time - clock.nowMilliseconds))
                let run = await stage.core.performed(1)[0]
                #expect(run.request == "bots/bot0/schedule-tick-\(time)")
                #expect(
                    run.effects == [
                        HandlerEffect(
                            id: "bot0/schedule-tick-\(time)/0",
                            operation: .send(chatID: "c1", OutgoingMessage(content: "tick").marked(1))
                        ).counted,
                        ScheduleMark.effect(ScheduleID(bot: "bot0", name: "tick"), time),
                    ])
                // The handler's own timeout.
                await clock.waitForSleeper()
            }
        }
    }

    @Test func failedScheduleCountsAsHandled() async {
        let clock = StandingClock(milliseconds: 1_700_000_030_000)
        let bot = ListedBot { OnSchedule("tick", .every(.seconds(60))) { _ in throw Refusal() } }
        await Stage(bot, clock: clock).run { stage in
            _ = await stage.core.performed(1)
            await clock.waitForSleeper()
            clock.advance(by: .seconds(10))
            #expect(
                await stage.core.performed(1)[0].effects
                    == [ScheduleMark.effect(ScheduleID(bot: "bot0", name: "tick"), 1_700_000_040_000)])
        }
    }

    @Test func timersFireOnceInTheirChat() async {
        let clock = StandingClock()
        let bot = ListedBot {
            OnCommand("remind") { command, context in
                context.setTimer("remind", key: command.message.id.hex, after: .seconds(5), text: command.text)
            }
            OnCommand("never") { _, context in
                context.setTimer("remind", key: "x", after: .seconds(5))
                context.cancelTimer("remind", key: "x")
            }
            OnTimer("remind") { run, context in context.send("remember \(run.text)") }
        }
        await Stage(bot, clock: clock).run { stage in
            stage.core.deliver(arrived("/remind tea", 1), arrived("/never", 2))
            #expect(await stage.core.completed(2).map { $0.effects.count } == [2, 0])
            for _ in 0..<3 { await clock.waitForSleeper() }
            clock.advance(by: .seconds(5))
            let run = await stage.core.performed(1)[0]
            #expect(texts(run.effects) == ["remember tea"])
            #expect(run.effects[0].id == "bot0/timer-c1-remind-\(eventID(1).hex)-1700000005000/0")
            // This deletes the last chat with stored state.
            #expect(
                run.effects.dropFirst().map(\.operation) == [
                    .putValue(scope: "bot0/memory", key: "c1", value: nil),
                    .putValue(scope: "bot0/memory", key: "chats", value: nil),
                ])
            #expect(stage.dispatcher.memory.nextTimer(of: ["bot0"]) == nil)
        }
    }

    // MARK: Operator control

    @Test func pausedBotReceivesNothing() async {
        let bot = ListedBot { OnMessage { message, context in context.send(message.content) } }
        await Stage(bot, bot).run { stage in
            #expect(stage.dispatcher.pause("bot0"))
            #expect(!stage.dispatcher.pause("nobody"))
            #expect(
                await stage.core.performed(1)[0].effects.map(\.operation)
                    == [.putValue(scope: "pikabot/bots", key: "paused/bot0", value: [1])])
            stage.core.deliver(arrived("a", 1))
            #expect(await stage.core.completed(1)[0].effects.map(\.id) == ["bot1/\(eventID(1).hex)/0"])
            #expect(stage.dispatcher.resume("bot0"))
            stage.core.deliver(arrived("b", 2))
            #expect(await stage.core.completed(1)[0].effects.count == 2)
        }
        // Pauses are durable.
        let paused = Stage(bot, core: ScriptedCore(stored: ["pikabot/bots.paused/bot0": [1]]))
        await paused.run { stage in
            stage.core.deliver(arrived("a", 1))
            #expect(await stage.core.completed(1)[0].effects.isEmpty)
        }
    }

    @Test func reconfiguredBotsHandleNextEvent() async throws {
        let (began, finish) = (Gate(), Gate())
        let old = ListedBot {
            OnMessage { _, context in
                began.open()
                await finish.passed()
                context.send("old")
            }
        }
        let new = ListedBot {
            OnStart { context in context.send("started", to: "c1") }
            OnMessage { _, context in context.send("new") }
        }
        try await Stage([InstalledBot(old, label: "a")]).run { stage in
            stage.core.deliver(arrived("", 1), arrived("", 2))
            await began.passed()
            try await stage.dispatcher.reconfigure([InstalledBot(new, label: "a"), InstalledBot(new, label: "b")])
            // Only "b" is new.
            #expect(await stage.core.performed(1)[0].effects.map(\.id) == ["b/start-1700000000000/0"])
            finish.open()
            #expect(await stage.core.completed(2).map { texts($0.effects) } == [["old"], ["new", "new"]])
            #expect(stage.dispatcher.bots.map(\.label) == ["a", "b"])
        }
    }
}
