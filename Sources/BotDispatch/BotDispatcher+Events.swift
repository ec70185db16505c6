import BotKit
import PikaCore

extension BotDispatcher {
    /// Puts an event before all bots, or those that it waited for. It is done with when all are; those of which too many
    /// handlers hang get it later, and nobody waits for them.
    func handle(_ event: CoreEvent) async {
        let isFirst = held.bots(of: event) == nil
        let owed: Set<String>?
        do { owed = try await held.load(event, from: core) } catch {
            // The store has failed, which ends the core: the event comes again.
            return
        }
        let scope = await scope(of: .event(event))
        if isFirst {
            observe(.received(event))
            admission.begin(event, in: scope)
        }
        var answers: [BotAnswer] = []
        var waiting: Set<String> = []
        if owed == nil,
            let operated = admission.operate(
                event, bots: roster.bots.map(\.label), in: scope, nowMilliseconds: clock.nowMilliseconds)
        {
            answers.append(BotAnswer(bot: "", effects: operated))
        } else {
            for bot in roster.bots where owed?.contains(bot.label) ?? true {
                if mustWait(bot, for: event, scope) {
                    waiting.insert(bot.label)
                } else {
                    answers.append(await ask(bot, about: event, scope))
                }
            }
        }
        guard !Task.isCancelled, !answers.contains(where: \.isPostponed) else { return }
        if waiting.isEmpty {
            complete(event, answers, wasHeld: owed != nil)
        } else {
            hold(event, answers, waiting, isFirst)
        }
    }

    /// Whether a bot would take an event and cannot now.
    private func mustWait(_ bot: InstalledBot, for event: CoreEvent, _ scope: EventScope) -> Bool {
        guard isStuck(bot) || held.isBehind(event, bot.label), !admission.isPaused(bot.label) else { return false }
        var scope = scope
        scope.conversations = conversations(of: bot, about: .event(event))
        return admission.judge(event, for: bot.policy, in: scope) == .admitted
            && bot.work(for: .event(event), in: scope) != nil
    }

    private func complete(_ event: CoreEvent, _ answers: [BotAnswer], wasHeld: Bool) {
        commit(answers) { effects in
            let marked = admission.finish(.event(event), effects: effects, nowMilliseconds: clock.nowMilliseconds)
            core.complete(event.inboxID, effects: marked + (wasHeld ? [HeldEvents.effect(event, [])] : []))
        }
        held.done(event)
    }

    /// What the others asked for happens now, together with the note of who is not done.
    private func hold(_ event: CoreEvent, _ answers: [BotAnswer], _ waiting: Set<String>, _ isFirst: Bool) {
        let now = clock.nowMilliseconds
        if !answers.isEmpty {
            commit(answers) { effects in
                core.perform(
                    admission.finish(.event(event), effects: effects, nowMilliseconds: now)
                        + [HeldEvents.effect(event, waiting)],
                    request: RequestID(rawValue: "bots/held/\(event.inboxID)"))
            }
            admission.journal.open(event)
        }
        if isFirst { for bot in waiting.sorted() { admission.hold(event, for: bot, nowMilliseconds: now) } }
        held.hold(event, for: waiting)
    }
}
