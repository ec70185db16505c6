import BotDispatch
package import Daemon
package import Logging
import Metrics
package import PikaCore
package import ProcessSupport
import ServiceLifecycle

/// Runs the program of one external bot, restarting it as configured, and the daemon that it talks to.
///
/// It must start before the bot's handler receives events, and end after it, because it records the events that the
/// handler hands over.
package struct ExternalBotService: Service {
    package struct Configuration: Sendable {
        /// The configuration that the account's core was started with.
        package var core: CoreConfiguration
        package var restarts: RestartPolicy
        /// The time that a program has to exit when told to.
        package var grace: Duration
        /// Called once for each message that the program replies to.
        package var noteAnswer: @Sendable (CoreEvent) -> Void

        package init(
            core: CoreConfiguration, restarts: RestartPolicy, grace: Duration = .seconds(2),
            noteAnswer: @escaping @Sendable (CoreEvent) -> Void = { _ in }
        ) {
            self.noteAnswer = noteAnswer
            self.core = core
            self.restarts = restarts
            self.grace = grace
        }
    }

    private let bot: ExternalBot
    private let engine: DaemonEngine
    private let configuration: Configuration
    private let clock: any CoreClock
    private let logger: Logger

    /// - Parameter core: must not be running yet.
    package init(
        _ bot: ExternalBot, core: any DaemonCore, configuration: Configuration, clock: any CoreClock, logger: Logger
    ) {
        self.bot = bot
        self.configuration = configuration
        self.clock = clock
        var logger = logger
        logger[metadataKey: "bot.name"] = "\(bot.label)"
        self.logger = logger
        let account = ProgramAccount(bot, of: core, noteAnswer: configuration.noteAnswer)
        let gate = CommandGate(bot: bot, account: account, rateLimiter: SendRateLimiter(clock: clock))
        var settings = DaemonSettings(core: configuration.core, relayPatience: nil)
        settings.scope = "program/\(bot.label)"
        // As for every bot, messages wait in the outbox until a relay is connected.
        settings.waitsForRelays = false
        settings.program = ProgramRules(name: bot.label) { command, name throws(DaemonFailure) in
            try await gate.authorize(command, name)
        }
        engine = DaemonEngine(
            core: account, settings: settings, standard: DaemonClient(.standard), clock: clock, logger: logger)
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [engine, logger] in
                do { try await engine.run() } catch {
                    logger.error("The external bot's daemon engine has failed", metadata: ["error": "\(error)"])
                }
            }
            group.addTask {
                await superviseProgram()
                engine.end()
            }
            // Neither task is useful without the other.
            await group.next()
            group.cancelAll()
        }
        try? await gracefulShutdown()
    }

    // MARK: Restarts

    private func superviseProgram() async {
        guard await engine.waitUntilReady() else { return }
        var history = RestartPolicy.History()
        var generator = SystemRandomNumberGenerator()
        let began = clock.nowMilliseconds
        bot.monitor.setWaitingCount { [engine, bot] in await engine.waitingEvents + Int64(bot.intake.count) }
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            bot.monitor.started(at: clock.nowMilliseconds)
            let end = await newRun.run()
            bot.monitor.exited()
            guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
            logger.notice("The external bot's program has exited", metadata: ["end": "\(end.description)"])
            let verdict = configuration.restarts.verdict(
                afterSuccess: end.isSuccess, of: bot.program.restart, history: &history,
                now: .milliseconds(clock.nowMilliseconds - began), using: &generator)
            guard await follow(verdict, end) else { return }
        }
    }

    private var newRun: ProgramRun {
        ProgramRun(
            engine: engine, program: bot.program, patience: Int64(bot.policy.timeout / .milliseconds(1)),
            grace: configuration.grace, clock: clock, logger: logger)
    }

    /// Waits for the next start. Returns false if the program is not started again.
    private func follow(_ verdict: RestartPolicy.Verdict, _ end: ProgramRun.End) async -> Bool {
        if end.stall != nil {
            Counter(label: "bot_handler_timeouts_total", dimensions: [("handler", "\(bot.label) program")]).increment()
        }
        switch verdict {
        case .restart(let delay):
            Counter(
                label: "bot_supervisor_restarts_total", dimensions: [("bot", bot.label), ("reason", end.reason)]
            ).increment()
            let time = clock.nowMilliseconds + Int64(delay / .milliseconds(1))
            await cancelWhenGracefulShutdown { try? await clock.sleep(untilMilliseconds: time) }
            return true
        case .quarantine:
            bot.monitor.finished(as: .quarantined)
            Gauge(label: "bot_programs_quarantined", dimensions: [("bot", bot.label)]).record(1)
            logger.error(
                """
                The external bot's program fails too often and is not restarted; restart the account after fixing it. \
                Events for it are kept while its record has room
                """)
        case .leave:
            bot.monitor.finished(as: .finished)
            logger.notice(
                "The external bot's program is not restarted; events for it are kept while its record has room")
        }
        await engine.endPrograms()
        try? await gracefulShutdown()
        return false
    }
}
