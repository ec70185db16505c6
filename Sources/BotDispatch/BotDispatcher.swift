package import BotKit
package import Logging
package import PikaCore
import ServiceLifecycle

/// Hands events to the handlers of an account's bots, and what they ask for back to the core.
///
/// Events of one chat are handled in order, those of different chats at the same time, within a limit. An event is
/// done with when every bot is: then what they asked for is committed with it. On a graceful shutdown the running
/// handlers finish and nothing new starts; after a cancellation events that were under way come again.
package struct BotDispatcher: Service {
    package struct Configuration: Sendable {
        package var accountName: String
        /// Chats handled at the same time.
        package var parallelChats = 16
        package var services = BotServices()
        /// Who may trigger and operate the bots; its journal is told what becomes of events.
        package var admission = Admission()

        package init(accountName: String) {
            self.accountName = accountName
        }
    }

    /// For those who show what goes on; called in the order of each chat.
    package enum Observation: Sendable {
        case received(CoreEvent)
        case answered(CoreEvent, bot: String, [HandlerEffect])
    }

    private enum Step: Sendable {
        case event(CoreEvent)
        case handled(chatID: String)
        /// Work that may outlive the event it belongs to.
        case work(@Sendable () async -> Void)
        /// Somebody asks whether steps are taken.
        case ping(AsyncStream<Void>.Continuation)
        case stop
    }

    private let bots: [InstalledBot]
    private var admission: Admission { configuration.admission }
    private let core: any HandlerCore
    private let clock: any CoreClock
    private let configuration: Configuration
    private let logger: Logger
    private let observe: @Sendable (Observation) -> Void
    private let written = WrittenValues()
    private let steps: AsyncStream<Step>
    private let nextStep: AsyncStream<Step>.Continuation

    package init(
        bots: [InstalledBot], core: any HandlerCore, clock: any CoreClock, configuration: Configuration,
        logger: Logger, observe: @escaping @Sendable (Observation) -> Void = { _ in }
    ) {
        self.bots = bots
        self.core = core
        self.clock = clock
        self.configuration = configuration
        self.logger = logger
        self.observe = observe
        (steps, nextStep) = AsyncStream.makeStream()
    }

    /// Dispatches until a graceful shutdown or cancellation; may be called once.
    package func run() async {
        await withGracefulShutdownHandler {
            await dispatch()
        } onGracefulShutdown: {
            nextStep.yield(.stop)
        }
    }

    /// Returns true when everything that came before is taken up; false if it has ended. ``run()`` must be running, or the
    /// task be cancelled some time.
    package func isResponsive() async -> Bool {
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        guard case .enqueued = nextStep.yield(.ping(answer)) else { return false }
        for await _ in answers { return true }
        return false
    }

    private func dispatch() async {
        await admission.load(bots.map(\.label), from: core)
        var lanes = ChatLanes(width: configuration.parallelChats)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in core.events {
                    admission.arrived(event)
                    nextStep.yield(.event(event))
                }
            }
            for await step in steps {
                var started: [CoreEvent] = []
                switch step {
                case .event(let event): started = lanes.add(event)
                case .handled(let chatID): started = lanes.finish(chatID)
                case .work(let work): group.addTask { await work() }
                case .ping(let answer): answer.yield()
                case .stop: lanes.stop()
                }
                for event in started {
                    group.addTask { await handle(event) }
                }
                if lanes.isDrained { break }
            }
            group.cancelAll()
        }
    }
}

// MARK: One event

extension BotDispatcher {
    private func handle(_ event: CoreEvent) async {
        observe(.received(event))
        var scope = EventScope(
            chatID: event.chatID, account: core.account, accountName: configuration.accountName,
            snapshot: await core.snapshot())
        scope.operators = admission.operators
        admission.begin(event, in: scope)
        var effects: [HandlerEffect] = []
        if let operated = admission.operate(
            event, bots: bots.map(\.label), in: scope, nowMilliseconds: clock.nowMilliseconds)
        {
            effects = operated
        } else {
            for bot in bots {
                let asked = await ask(bot, about: event, scope)
                if !asked.isEmpty { observe(.answered(event, bot: bot.label, asked)) }
                effects += asked
            }
        }
        // A cancelled handler has not done its work: the event stays open, and comes again after a restart.
        guard !Task.isCancelled else { return }
        written.note(effects)
        core.complete(
            event.inboxID,
            effects: admission.finish(event, effects: effects, nowMilliseconds: clock.nowMilliseconds))
        nextStep.yield(.handled(chatID: event.chatID))
    }

    /// What one bot wants done about an event; nothing when its handler fails.
    private func ask(_ bot: InstalledBot, about event: CoreEvent, _ scope: EventScope) async -> [HandlerEffect] {
        var found: (index: Int, work: Handler.Work)?
        let verdict = admission.verdict(
            on: event, for: bot.label, bot.policy, in: scope, nowMilliseconds: clock.nowMilliseconds
        ) {
            found = bot.work(for: .event(event), in: scope)
            return found != nil
        }
        guard verdict == .admitted, let (index, work) = found else { return [] }
        let metrics = bot.metrics[index]
        var logger = logger
        logger[metadataKey: "bot.name"] = "\(bot.label)"
        logger[metadataKey: "bot.handler"] = "\(bot.handlers[index].label)"
        logger[metadataKey: "chat.id"] = "\(event.chatID.prefix(8))"
        let began = clock.nowMilliseconds
        let context = BotContext(
            bot: bot.label, trigger: .event(event), scope: scope, nowMilliseconds: began, logger: logger,
            services: configuration.services,
            readValue: { try await value(scope: bot.label, key: $0) },
            readMedia: { [core] in try await core.media(chatID: event.chatID, messageID: $0, index: $1) })
        guard let outcome = await run(work, context, bot.policy.timeout), !Task.isCancelled else { return [] }
        metrics.record(milliseconds: clock.nowMilliseconds - began)
        let handler = bot.handlers[index].label
        func note(_ outcome: BotOutcome) {
            admission.note(outcome, of: bot.label, on: event, nowMilliseconds: clock.nowMilliseconds)
        }
        switch outcome {
        case .returned:
            do {
                let asked = try context.finish()
                note(.handled(handler: handler, effects: asked.count))
                return asked
            } catch {
                note(.failed(handler: handler, error: "\(type(of: error))"))
                metrics.count(error)
                logger.warning("Handler failed", metadata: ["error": "\(error)"])
            }
        case .threw(let error):
            note(.failed(handler: handler, error: "\(type(of: error))"))
            metrics.count(error)
            logger.warning("Handler threw; nothing of what it asked for is done", metadata: ["error": "\(error)"])
        case .timedOut:
            note(.timedOut(handler: handler))
            metrics.countTimeout()
            logger.warning(
                "Handler took too long; nothing of what it asked for is done",
                metadata: ["handler.timeout": "\(bot.policy.timeout)"])
        }
        return []
    }

    /// Nil when the dispatcher was cancelled first.
    private func run(
        _ work: @escaping Handler.Work, _ context: BotContext, _ timeout: Duration
    ) async -> HandlerOutcome? {
        let (outcomes, report) = AsyncStream.makeStream(of: HandlerOutcome.self)
        let run = HandlerRun(
            work: work, context: context, clock: clock,
            timeoutMilliseconds: Int64(timeout / .milliseconds(1)))
        nextStep.yield(.work { await run.perform { report.yield($0) } })
        for await outcome in outcomes { return outcome }
        return nil
    }

    private func value(scope: String, key: String) async throws -> [UInt8]? {
        if let known = written.value(scope: scope, key: key) { return known }
        return try await core.value(scope: scope, key: key)
    }
}
