import BotKit
import Logging
import PikaCore

/// The effects of one bot.
struct BotResult: Sendable {
    let bot: String
    var effects: [HandlerEffect] = []
    var memory: [BotMemoryChange] = []
    /// Whether the event must stay in the inbox, whatever the other bots return.
    var isPostponed = false
}

extension BotDispatcher {
    /// Runs one job. If the dispatcher is cancelled first, the job stays open and is redelivered after a restart. A job
    /// is abandoned if the process has died several times while running it.
    func handle(_ job: BotJob) async {
        let deaths = inFlight.deaths(of: job)
        guard deaths < InFlightJobs.maximumDeaths else { return giveUp(job, deaths) }
        inFlight.begin(job)
        await work(on: job)
        inFlight.end(job, isDone: !Task.isCancelled)
    }

    private func work(on job: BotJob) async {
        switch job {
        case .event(let event): await handle(event)
        case .schedule(let id, let run):
            guard let bot = roster.bot(id.bot) else { return }
            guard !admission.isPaused(id.bot) else { return markSkipped([(id, mark(of: run))]) }
            let result = await runHandler(of: bot, for: .schedule(run), scope(of: .schedule(run)))
            guard !Task.isCancelled else { return }
            let mark = mark(of: run)
            roster.mark(id, mark)
            commit([result], ScheduleMark.effect(id, mark), of: .schedule(run))
        case .timer(let label, let run):
            defer { memory.finish(run, of: label) }
            guard let bot = roster.bot(label), memory.isSet(run, of: label), !admission.isPaused(label) else { return }
            var result = await runHandler(of: bot, for: .timer(run), scope(of: .timer(run)))
            guard !Task.isCancelled else { return }
            result.memory.insert(contentsOf: run.end, at: 0)
            commit([result], of: .timer(run))
        }
    }

    /// Returns the time to store for a run. A catch-up run replaces all missed ones.
    private func mark(of run: ScheduleRun) -> Int64 {
        run.isCatchUp ? max(run.dueMilliseconds, clock.nowMilliseconds) : run.dueMilliseconds
    }

    /// Marks runs as handled without running them.
    func markSkipped(_ runs: [(id: ScheduleID, mark: Int64)]) {
        guard !runs.isEmpty else { return }
        for run in runs { roster.mark(run.id, run.mark) }
        core.perform(
            runs.map { ScheduleMark.effect($0.id, $0.mark) }, request: RequestID(rawValue: "bots/marks"))
    }

    /// Ends a job without running its handlers. It stays in the journal until an orderly end of the process, since its
    /// completion is not durable yet.
    private func giveUp(_ job: BotJob, _ deaths: Int) {
        logger.error(
            "Abandoned a trigger: the process died repeatedly while a handler was running for it", metadata: job.names)
        switch job {
        case .event(let event):
            admission.giveUp(event, deaths: deaths, nowMilliseconds: clock.nowMilliseconds)
            core.complete(event.inboxID, effects: [HeldEvents.effect(event, [])])
        case .schedule(let id, let run): markSkipped([(id, mark(of: run))])
        case .timer(let label, let run):
            defer { memory.finish(run, of: label) }
            commit([BotResult(bot: label, memory: run.end)], of: .timer(run))
        }
    }

    /// Runs the bots' start or stop handlers concurrently.
    func perform(_ trigger: BotTrigger, of bots: [InstalledBot], timeout: Duration?) async {
        let scope = scope(of: trigger)
        await withDiscardingTaskGroup { group in
            for bot in bots where !admission.isPaused(bot.label) {
                group.addTask {
                    let result = await runHandler(of: bot, for: trigger, scope, timeout: timeout)
                    if !Task.isCancelled { commit([result], of: trigger) }
                }
            }
        }
    }

    func scope(of trigger: BotTrigger) -> EventScope {
        var scope = EventScope(
            chatID: trigger.chatID, account: core.account, accountName: configuration.accountName,
            snapshot: core.snapshot())
        scope.operators = admission.operators
        return scope
    }

    /// Returns whether a bot's triggers must wait, because the maximum number of its handlers hang.
    func isStuck(_ bot: InstalledBot) -> Bool { hanging.count(of: bot.label) >= Self.maximumHanging }

    private static let maximumHanging = 16

    // MARK: Commits to the core

    func commit(_ results: [BotResult], _ more: HandlerEffect? = nil, of trigger: BotTrigger) {
        let effects = results.flatMap(\.effects)
        guard !effects.isEmpty || more != nil || results.contains(where: { !$0.memory.isEmpty }) else { return }
        let bot = results.first?.bot ?? ""
        let input = trigger.inputID(nowMilliseconds: clock.nowMilliseconds)
        commit(results) {
            core.perform(
                admission.finish(trigger, effects: $0, nowMilliseconds: clock.nowMilliseconds)
                    + [more].compactMap(\.self),
                request: RequestID(rawValue: "bots/\(bot)/\(input)"))
        }
    }

    /// Commits everything in one transaction, in the order in which the memory changes.
    func commit(_ results: [BotResult], _ submit: ([HandlerEffect]) -> Void) {
        let effects = results.flatMap(\.effects)
        let changes = results.flatMap { result in result.memory.map { (bot: result.bot, change: $0) } }
        let refused = memory.commit(changes) { more in
            written.note(effects)
            submit(effects + more)
        }
        if refused > 0 {
            logger.warning("Too many timers in a chat; dropped the new ones", metadata: ["timers": "\(refused)"])
        }
    }
}

extension TimerRun {
    /// The changes that end a timer's run, whatever its outcome: the timer and the conversation that it limits are
    /// removed.
    fileprivate var end: [BotMemoryChange] {
        [.cancelTimer(timer)] + [conversation.map { .endConversation($0) }].compactMap(\.self)
    }
}

extension BotJob {
    /// Log metadata.
    fileprivate var names: Logger.Metadata {
        switch self {
        case .event(let event):
            [
                "chat.id": "\(event.lane.prefix(event.chatID.rawValue.isEmpty ? 64 : 8))",
                "event.id": "\(event.inputID.prefix(8))",
            ]
        case .schedule(let id, _): ["bot.name": "\(id.bot)", "schedule": "\(id.name)"]
        case .timer(let bot, let run): ["bot.name": "\(bot)", "timer": "\(run.name)"]
        }
    }
}
