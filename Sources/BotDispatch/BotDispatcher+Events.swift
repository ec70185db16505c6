import BotKit
import PikaCore

extension BotDispatcher {
    /// Delivers an event to all bots, or to those that it was held for. It is completed when all of them have handled
    /// it. Bots with too many hanging handlers get it later, and nothing waits for them.
    func handle(_ event: CoreEvent) async {
        let isFirst = held.bots(of: event) == nil
        let owed: Set<String>?
        do { owed = try await held.load(event, from: core) } catch {
            // The store has failed, which ends the core: the event is redelivered after the restart.
            return
        }
        let scope = scope(of: .event(event))
        if isFirst {
            observe(.received(event))
            admission.begin(event, in: scope)
        }
        var results: [BotResult] = []
        var waiting: Set<String> = []
        if owed == nil,
            let operated = admission.operate(
                event, bots: roster.bots.map(\.label), in: scope, nowMilliseconds: clock.nowMilliseconds)
        {
            results.append(BotResult(bot: "", effects: operated))
        } else {
            for bot in roster.bots where (owed?.contains(bot.label) ?? true) && event.isMeant(for: bot.label) {
                if mustWait(bot, for: event, scope) {
                    waiting.insert(bot.label)
                } else {
                    results.append(await runHandler(of: bot, for: event, scope))
                }
            }
        }
        guard !Task.isCancelled, !results.contains(where: \.isPostponed) else { return }
        if waiting.isEmpty {
            complete(event, results, wasHeld: owed != nil)
        } else {
            hold(event, results, waiting, isFirst)
        }
    }

    /// Returns whether a bot would accept an event but cannot process it now.
    private func mustWait(_ bot: InstalledBot, for event: CoreEvent, _ scope: EventScope) -> Bool {
        guard isStuck(bot) || held.isBehind(event, bot.label), !admission.isPaused(bot.label) else { return false }
        var scope = scope
        scope.conversations = conversations(of: bot, about: .event(event))
        return admission.judge(event, for: bot.policy, in: scope) == .admitted
            && bot.work(for: .event(event), in: scope) != nil
    }

    private func complete(_ event: CoreEvent, _ results: [BotResult], wasHeld: Bool) {
        commit(results) { effects in
            let marked = admission.finish(.event(event), effects: effects, nowMilliseconds: clock.nowMilliseconds)
            core.complete(event.inboxID, effects: marked + (wasHeld ? [HeldEvents.effect(event, [])] : []))
        }
        held.done(event)
    }

    /// Commits the effects of the other bots now, together with the list of bots that the event is held for.
    private func hold(_ event: CoreEvent, _ results: [BotResult], _ waiting: Set<String>, _ isFirst: Bool) {
        let now = clock.nowMilliseconds
        if !results.isEmpty {
            commit(results) { effects in
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

extension CoreEvent {
    /// Whether a bot may receive the event: an outcome is only for the bot that requested the action.
    fileprivate func isMeant(for bot: String) -> Bool {
        guard case .outcome(let outcome) = content else { return true }
        return outcome.action.bot == bot
    }
}
