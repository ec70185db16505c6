import BotKit
import Logging
import PikaCore

/// What one bot wants done.
struct BotAnswer: Sendable {
    let bot: String
    var effects: [HandlerEffect] = []
    var memory: [BotMemoryChange] = []
}

extension BotDispatcher {
    /// Does one job, unless the dispatcher is cancelled first: then it stays open, and comes again after a restart.
    func handle(_ job: BotJob) async {
        switch job {
        case .event(let event): await handle(event)
        case .schedule(let id, let run):
            guard let bot = roster.bot(id.bot), !admission.isPaused(id.bot) else { return }
            let answer = await ask(bot, about: .schedule(run), await scope(of: .schedule(run)))
            guard !Task.isCancelled else { return }
            // Of what was missed, one run is made up for: the others are dealt with by it.
            let mark = run.isCatchUp ? max(run.dueMilliseconds, clock.nowMilliseconds) : run.dueMilliseconds
            roster.mark(id, mark)
            commit([answer], ScheduleMark.effect(id, mark), of: .schedule(run))
        case .timer(let label, let run):
            defer { memory.putBack(run, of: label) }
            guard let bot = roster.bot(label), memory.isSet(run, of: label), !admission.isPaused(label) else { return }
            var answer = await ask(bot, about: .timer(run), await scope(of: .timer(run)))
            guard !Task.isCancelled else { return }
            answer.memory.insert(.cancelTimer(run.timer), at: 0)
            commit([answer], of: .timer(run))
        }
    }

    private func handle(_ event: CoreEvent) async {
        observe(.received(event))
        let scope = await scope(of: .event(event))
        admission.begin(event, in: scope)
        var answers: [BotAnswer] = []
        if let operated = admission.operate(
            event, bots: roster.bots.map(\.label), in: scope, nowMilliseconds: clock.nowMilliseconds)
        {
            answers.append(BotAnswer(bot: "", effects: operated))
        } else {
            for bot in roster.bots { answers.append(await ask(bot, about: event, scope)) }
        }
        guard !Task.isCancelled else { return }
        commit(answers) { effects in
            let marked = admission.finish(.event(event), effects: effects, nowMilliseconds: clock.nowMilliseconds)
            core.complete(event.inboxID, effects: marked)
        }
    }

    /// Runs what the bots do at their start or end, side by side.
    func perform(_ trigger: BotTrigger, of bots: [InstalledBot], timeout: Duration?) async {
        let scope = await scope(of: trigger)
        await withDiscardingTaskGroup { group in
            for bot in bots where !admission.isPaused(bot.label) {
                group.addTask {
                    let answer = await ask(bot, about: trigger, scope, timeout: timeout)
                    if !Task.isCancelled { commit([answer], of: trigger) }
                }
            }
        }
    }

    func scope(of trigger: BotTrigger) async -> EventScope {
        var scope = EventScope(
            chatID: trigger.chatID, account: core.account, accountName: configuration.accountName,
            snapshot: await core.snapshot())
        scope.operators = admission.operators
        return scope
    }

    /// Whether so many of its handlers hang that it gets nothing more.
    func isStuck(_ bot: InstalledBot) -> Bool { hanging.count(of: bot.label) >= Self.maximumHanging }

    private static let maximumHanging = 16

    // MARK: Back to the core

    private func commit(_ answers: [BotAnswer], _ more: HandlerEffect? = nil, of trigger: BotTrigger) {
        let effects = answers.flatMap(\.effects)
        guard !effects.isEmpty || more != nil || answers.contains(where: { !$0.memory.isEmpty }) else { return }
        let bot = answers.first?.bot ?? ""
        let input = trigger.inputID(nowMilliseconds: clock.nowMilliseconds)
        commit(answers) {
            core.perform(
                admission.finish(trigger, effects: $0, nowMilliseconds: clock.nowMilliseconds)
                    + [more].compactMap(\.self),
                request: RequestID(rawValue: "bots/\(bot)/\(input)"))
        }
    }

    /// Everything in one transaction, in the order in which memory changes.
    private func commit(_ answers: [BotAnswer], _ handOn: ([HandlerEffect]) -> Void) {
        let effects = answers.flatMap(\.effects)
        let changes = answers.flatMap { answer in answer.memory.map { (bot: answer.bot, change: $0) } }
        let refused = memory.commit(changes) { more in
            written.note(effects)
            handOn(effects + more)
        }
        if refused > 0 {
            logger.warning("A chat has too many timers; new ones are not set", metadata: ["timers": "\(refused)"])
        }
    }
}
