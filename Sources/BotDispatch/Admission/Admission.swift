package import BotKit
import Metrics
package import Nostr
package import PikaCore
import Synchronization

/// Decides for each bot whether an event may trigger it, and records the reason if not.
///
/// A dispatcher reports every event: ``arrived(_:)`` on arrival, ``begin(_:in:)`` when its processing starts,
/// ``verdict(on:for:_:in:nowMilliseconds:isWanted:isUrgent:)`` for each bot,
/// ``note(_:of:on:nowMilliseconds:)`` with the bot's outcome, and ``finish(_:effects:nowMilliseconds:)`` at the end. An
/// event that is redelivered after a crash is judged again, from the same facts.
package final class Admission: Sendable {
    private struct Origin: Hashable, Sendable {
        let bot: String
        let name: String
    }

    private struct State: Sendable {
        var operators: Set<PublicKey>
        var paused: Set<String> = []
        var newest: Int64 = 0
        var loops = LoopBreaker()
        var senders = RateLimiter<Origin>()
        var groups = RateLimiter<Origin>()
        var counts: [String: BotCounts] = [:]
        var pauseObserver: @Sendable () -> Void = {}
    }

    package let journal: EventJournal
    private let state: Mutex<State>

    package init(operators: Set<PublicKey> = [], journal: EventJournal = EventJournal()) {
        self.journal = journal
        state = Mutex(State(operators: operators))
    }

    /// The public keys of the operators of the account's bots; changes take effect at once.
    package var operators: Set<PublicKey> {
        get { state.withLock(\.operators) }
        set { state.withLock { $0.operators = newValue } }
    }

    // MARK: Pauses

    package func isPaused(_ bot: String) -> Bool { state.withLock { $0.paused.contains(bot) } }

    /// Pauses or resumes a bot at once; ``pauseEffect(_:_:)`` makes that durable.
    package func setPaused(_ isPaused: Bool, _ bot: String) {
        let observer = state.withLock { state in
            if isPaused { state.paused.insert(bot) } else { state.paused.remove(bot) }
            return state.pauseObserver
        }
        observer()
    }

    /// Sets the callback for paused and resumed bots; there is only one.
    func onPauseChange(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.pauseObserver = observer } }

    package func counts(of bot: String) -> BotCounts { state.withLock { $0.counts[bot] ?? BotCounts() } }

    // MARK: Lifecycle of an event

    package func arrived(_ event: CoreEvent) {
        state.withLock { $0.newest = max($0.newest, event.inboxID) }
        journal.open(event)
    }

    /// Records that the processing of the event starts.
    package func begin(_ event: CoreEvent, in scope: EventScope) {
        guard case .message(let message) = event.content, message.sender != scope.account else { return }
        state.withLock { $0.loops.receive(message, event) }
    }

    /// Decides whether a bot gets an event; if not, counts and records that.
    ///
    /// - Parameter isWanted: returns whether one of the bot's handlers accepts the event; called only if that matters.
    ///   Limits apply only to events that the bot would react to: members may talk to each other without limit.
    /// - Parameter isUrgent: returns whether the handler that accepts the event is exempt from limits; called after
    ///   `isWanted`.
    package func verdict(
        on event: CoreEvent, for bot: String, _ policy: BotPolicy, in scope: EventScope, nowMilliseconds now: Int64,
        isWanted: () -> Bool, isUrgent: () -> Bool = { false }
    ) -> AdmissionVerdict {
        var verdict = judge(event, for: policy, in: scope)
        if verdict == .admitted, isPaused(bot) { verdict = .ignored(.paused) }
        if verdict == .admitted, !isWanted() { verdict = .ignored(.noHandler) }
        if verdict == .admitted, !isUrgent() { verdict = limit(event, bot, policy, scope, now) }
        if case .ignored(let reason, let detail) = verdict {
            ignore(event, for: bot, reason, detail, nowMilliseconds: now)
        }
        return verdict
    }

    /// Counts and records that a bot ignored an event, or that no bot gets it if `bot` is nil.
    package func ignore(
        _ event: CoreEvent, for bot: String?, _ reason: IgnoreReason, _ detail: String = "",
        nowMilliseconds now: Int64
    ) {
        Counter(label: "bot_events_ignored_total", dimensions: [("reason", reason.rawValue)]).increment()
        if let bot { state.withLock { $0.counts[bot, default: BotCounts()].ignored += 1 } }
        journal.note(JournalEntry(event, at: UnixTime(milliseconds: now), bot: bot, ignored: reason, detail: detail))
    }

    /// Counts and records the outcome of an event for a bot.
    package func note(
        _ outcome: BotOutcome, of bot: String, on event: CoreEvent, nowMilliseconds now: Int64
    ) {
        state.withLock { $0.counts[bot, default: BotCounts()].add(outcome) }
        let (reason, detail) = outcome.journalFields
        journal.note(JournalEntry(event, at: UnixTime(milliseconds: now), bot: bot, reason, detail: detail))
    }

    /// Records that the event waits because too many of the bot's handlers hang.
    package func hold(_ event: CoreEvent, for bot: String, nowMilliseconds now: Int64) {
        journal.note(JournalEntry(event, at: UnixTime(milliseconds: now), bot: bot, .stuck, detail: ""))
    }

    /// Counts and records that an event was abandoned because processes died while it was in flight.
    package func giveUp(_ event: CoreEvent, deaths: Int, nowMilliseconds now: Int64) {
        let reason = HandlingReason.crashed
        Counter(label: "bot_inbox_given_up_total", dimensions: [("reason", reason.rawValue)]).increment()
        journal.close(event)
        journal.note(
            JournalEntry(
                event, at: UnixTime(milliseconds: now), bot: nil, reason,
                detail: "the process died \(deaths) times while it was in flight"))
    }

    /// Returns the effects to commit with a handled trigger, with messages marked as automated.
    package func finish(
        _ trigger: BotTrigger, effects: [HandlerEffect], nowMilliseconds now: Int64
    ) -> [HandlerEffect] {
        switch trigger {
        case .event(let event):
            journal.close(event)
            if let message = trigger.message, effects.contains(where: { $0.operation.messageChat == event.chatID }) {
                state.withLock { state in
                    state.loops.answer(message, in: event.chatID, at: UnixTime(milliseconds: now), newest: state.newest)
                }
            }
            return AutomationMarker.mark(effects, depth: AutomationMarker.depth(of: event) ?? 0)
        case .timer(let run):
            // The timer may have been set because of another bot's message.
            return AutomationMarker.mark(effects, depth: state.withLock { $0.loops.depth(in: run.chatID) })
        case .schedule, .start, .stop, .probe: return AutomationMarker.mark(effects, depth: 0)
        }
    }

    /// Records that an external bot has replied in the chat of an event that it received, which no handler reports.
    package func answered(_ event: CoreEvent, nowMilliseconds now: Int64) {
        guard case .message(let message) = event.content else { return }
        state.withLock { state in
            state.loops.answer(message, in: event.chatID, at: UnixTime(milliseconds: now), newest: state.newest)
        }
    }

    // MARK: Limits

    private func limit(
        _ event: CoreEvent, _ bot: String, _ policy: BotPolicy, _ scope: EventScope, _ now: Int64
    ) -> AdmissionVerdict {
        guard let author = event.trigger(by: scope.account)?.author else { return .admitted }
        if let trip = breakLoop(event, policy.limits.botPair) { return .ignored(.loop, detail: trip.detail) }
        // Rates use the time of arrival, not of processing: a sender who fills the backlog gets no more replies for its
        // length. An arrival in the future means that the clock was set back.
        let came = min(event.receivedAt.milliseconds, now)
        return state.withLock { state in
            let sender = Origin(bot: bot, name: author.hex)
            let group = Origin(bot: bot, name: event.chatID.rawValue)
            if let rate = policy.limits.perSender,
                !state.senders.allows(sender, rate.limit, nowMilliseconds: came)
            {
                return Self.limited(.rateLimitedSender, "sender", rate)
            }
            if let rate = policy.limits.perGroup, !state.groups.consume(group, rate.limit, nowMilliseconds: came) {
                return Self.limited(.rateLimitedGroup, "group", rate)
            }
            if let rate = policy.limits.perSender {
                _ = state.senders.consume(sender, rate.limit, nowMilliseconds: came)
            }
            return .admitted
        }
    }

    private static func limited(_ reason: IgnoreReason, _ scope: String, _ rate: Rate) -> AdmissionVerdict {
        Counter(label: "bot_rate_limited_total", dimensions: [("scope", scope)]).increment()
        return .ignored(reason, detail: "limit: \(rate)")
    }

    private func breakLoop(_ event: CoreEvent, _ budget: Int) -> LoopBreaker.Trip? {
        guard case .message(let message) = event.content,
            let (trip, isNew) = state.withLock({
                $0.loops.objection(to: message, in: event.chatID, budget: budget)
            })
        else { return nil }
        if isNew { Counter(label: "bot_loop_breaker_trips_total").increment() }
        return trip
    }
}

extension LoopBreaker.Trip {
    fileprivate var detail: String {
        switch self {
        case .depth(let depth):
            "bots reply to bots: depth \(depth), maximum answered depth \(LoopBreaker.maximumDepth - 1)"
        case .pair(let budget): "botPair: \(budget) consecutive messages between two bots"
        case .pace(let exchanges): "\(exchanges) consecutive replies within \(LoopBreaker.quickSeconds) s of ours"
        }
    }
}
