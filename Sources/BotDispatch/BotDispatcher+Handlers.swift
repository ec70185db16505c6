import BotKit
import Logging
import PikaCore
import Synchronization

extension BotDispatcher {
    /// Runs a bot's handler for an event, if the bot gets it, and returns its effects.
    func runHandler(of bot: InstalledBot, for event: CoreEvent, _ scope: EventScope) async -> BotResult {
        let now = clock.nowMilliseconds
        var scope = scope
        scope.conversations = conversations(of: bot, about: .event(event))
        var found: (index: Int, work: Handler.Work)?
        let verdict = admission.verdict(on: event, for: bot.label, bot.policy, in: scope, nowMilliseconds: now) {
            found = bot.work(for: .event(event), in: scope)
            return found != nil
        } isUrgent: {
            found.map { bot.handlers[$0.index].isUrgent } ?? false
        }
        guard verdict == .admitted, let found else { return BotResult(bot: bot.label) }
        guard bot.timesItself else {
            return await run(bot, found, about: .event(event), scope, timeout: bot.timeout)
        }
        return await whileSuspended(.event(event)) {
            await run(bot, found, about: .event(event), scope, timeout: bot.timeout)
        }
    }

    /// Runs a bot's handler for a trigger other than an event and returns its effects.
    func runHandler(
        of bot: InstalledBot, for trigger: BotTrigger, _ scope: EventScope, timeout: Duration? = nil
    ) async -> BotResult {
        var scope = scope
        scope.conversations = conversations(of: bot, about: trigger)
        guard let found = bot.work(for: trigger, in: scope) else { return BotResult(bot: bot.label) }
        return await run(
            bot, found, about: trigger, scope, timeout: min(timeout ?? bot.policy.timeout, bot.policy.timeout))
    }

    /// Runs a handler and, if it fails, the error handlers; returns the effects.
    private func run(
        _ bot: InstalledBot, _ found: (index: Int, work: Handler.Work), about trigger: BotTrigger, _ scope: EventScope,
        timeout: Duration
    ) async -> BotResult {
        let call = HandlerCall(
            bot: bot, handler: found.index, trigger: trigger, scope: scope, timeout: timeout,
            logger: logger(bot, bot.handlers[found.index].label, scope))
        let began = clock.nowMilliseconds
        let context = context(call, input: nil)
        guard let outcome = await run(call, { try await found.work(context) }), !Task.isCancelled else {
            return BotResult(bot: bot.label)
        }
        bot.metrics[found.index].record(milliseconds: clock.nowMilliseconds - began)
        let result = await result(call, outcome, context)
        for failure in context.failures { bot.metrics[found.index].count(failure) }
        if !result.effects.isEmpty { observe(.answered(trigger, bot: bot.label, result.effects)) }
        return result
    }

    /// Runs the handler of a probe and returns its result; other effects are dropped.
    func answer(_ bot: InstalledBot, _ trigger: BotTrigger, _ scope: EventScope, timeout: Duration) async
        -> ProbeOutcome
    {
        let failed = ProbeOutcome.answered(ProbeAnswer(isSuccess: false))
        guard let found = bot.work(for: trigger, in: scope) else { return failed }
        let call = HandlerCall(
            bot: bot, handler: found.index, trigger: trigger, scope: scope, timeout: timeout,
            logger: logger(bot, bot.handlers[found.index].label, scope))
        let (began, context) = (clock.nowMilliseconds, context(call, input: nil))
        let outcome = await run(call, { try await found.work(context) })
        bot.metrics[found.index].record(milliseconds: clock.nowMilliseconds - began)
        switch outcome {
        case .returned: return context.probeAnswer.map(ProbeOutcome.answered) ?? failed
        case .threw(let error as BotError) where error.code == .probeRefused: return .refused(error.message)
        case .threw(let error):
            bot.metrics[found.index].count(error)
            call.logger.warning("Probe failed", metadata: ["error": "\(error)"])
        case .timedOut: bot.metrics[found.index].countTimeout()
        case nil: break
        }
        return failed
    }

    private func result(_ call: HandlerCall, _ outcome: HandlerOutcome, _ context: BotContext) async -> BotResult {
        let failure: any Error
        switch outcome {
        case .returned:
            do {
                let effects = try context.finish().map { $0.tracked(call.tracking) }
                note(.handled(handler: call.label, effects: effects.count), call)
                return BotResult(bot: call.bot.label, effects: effects, memory: context.memoryChanges)
            } catch { failure = error }
        case .threw(is EventPostponed): return BotResult(bot: call.bot.label, isPostponed: true)
        case .threw(let error): failure = error
        case .timedOut:
            call.bot.metrics[call.handler].countTimeout()
            failure = BotError(.timedOut, "the handler exceeded its deadline of \(call.timeout)")
        }
        // Effects requested from now on are dropped.
        _ = try? context.finish()
        return await recover(from: failure, call)
    }

    private func note(_ outcome: BotOutcome, _ call: HandlerCall) {
        guard let event = call.trigger.event else { return }
        admission.note(outcome, of: call.bot.label, on: event, nowMilliseconds: clock.nowMilliseconds)
    }

    /// Calls the error handlers in order; an error that none of them handles goes to log and metrics.
    private func recover(from failure: any Error, _ call: HandlerCall) async -> BotResult {
        var result = BotResult(bot: call.bot.label)
        for (place, handler) in call.bot.errorHandlers.enumerated() {
            let context = context(call, input: "\(call.input(clock))/error-\(place)")
            let verdict = VerdictBox()
            let outcome = await run(call) { verdict.value = try await handler.handle(failure, context) }
            guard case .returned = outcome, let effects = try? context.finish() else {
                call.logger.warning("Error handler failed", metadata: ["error.handler": "\(place)"])
                continue
            }
            result.effects += effects.map { $0.tracked(call.tracking) }
            result.memory += context.memoryChanges
            if verdict.value == .handled {
                call.logger.debug("Handler failed; an error handler handled the error")
                note(.handled(handler: call.label, effects: result.effects.count), call)
                return result
            }
        }
        let isLate = (failure as? BotError)?.code == .timedOut
        note(
            isLate ? .timedOut(handler: call.label) : .failed(handler: call.label, error: "\(type(of: failure))"), call)
        call.bot.metrics[call.handler].count(failure)
        call.logger.warning(
            "Handler failed; dropped its effects", metadata: ["error": "\(failure)"])
        return result
    }

    // MARK: Helpers

    /// Runs the work under its deadline; nil if the dispatcher was cancelled first.
    private func run(_ call: HandlerCall, _ work: @escaping @Sendable () async throws -> Void) async -> HandlerOutcome?
    {
        await HandlerRun(
            work: work, clock: clock, timeoutMilliseconds: call.timeout.wholeMilliseconds,
            executor: configuration.executor, hanging: hanging.slot(for: call.bot.label)
        ).perform()
    }

    private func context(_ call: HandlerCall, input: String?) -> BotContext {
        let (label, chatID) = (call.bot.label, call.scope.chatID)
        return BotContext(
            bot: label, trigger: call.trigger, inputID: input, scope: call.scope,
            nowMilliseconds: clock.nowMilliseconds, logger: call.logger, services: configuration.services,
            readValue: { try await value(scope: label, key: $0) },
            readMedia: { [core] in try await core.media(chatID: chatID, messageID: $0, index: $1) })
    }

    private func logger(_ bot: InstalledBot, _ handler: String, _ scope: EventScope) -> Logger {
        var logger = logger
        logger[metadataKey: "bot.name"] = "\(bot.label)"
        logger[metadataKey: "bot.handler"] = "\(handler)"
        let chatID = scope.chatID.rawValue
        if !chatID.isEmpty { logger[metadataKey: "chat.id"] = "\(chatID.prefix(8))" }
        return logger
    }

    /// Returns the active conversations with a trigger's author, except those that the bot no longer declares.
    func conversations(of bot: InstalledBot, about trigger: BotTrigger) -> [String: [UInt8]] {
        let known: [String: [UInt8]] =
            switch trigger {
            case .event:
                trigger.message.map { memory.conversations(of: bot.label, in: trigger.chatID, with: $0.sender.hex) }
                    ?? [:]
            case .timer(let run): memory.conversations(of: bot.label, in: run.chatID, with: run.key)
            case .schedule, .start, .stop, .probe: [:]
            }
        guard !known.isEmpty else { return known }
        let declared = bot.conversations
        return known.filter { declared.contains($0.key) }
    }

    private func value(scope: String, key: String) async throws -> [UInt8]? {
        if let known = written.value(scope: scope, key: key) { return known }
        return try await core.value(scope: scope, key: key)
    }
}

/// A handler to run and its input.
private struct HandlerCall: Sendable {
    let bot: InstalledBot
    let handler: Int
    let trigger: BotTrigger
    let scope: EventScope
    let timeout: Duration
    let logger: Logger

    var label: String { bot.handlers[handler].label }
    /// The treatment of the outcomes of the handler's actions. Those of outcome handlers are not reported, or a bot that
    /// writes about outcomes would never stop.
    var tracking: HandlerEffect.Tracking {
        if case .outcome? = trigger.event?.content { .counted } else { bot.tracking }
    }

    func input(_ clock: any CoreClock) -> String { trigger.inputID(nowMilliseconds: clock.nowMilliseconds) }
}

/// Holds the verdict of an error handler, which may be abandoned.
private final class VerdictBox: Sendable {
    private let state = Mutex(BotErrorHandler.Verdict.passOn)

    var value: BotErrorHandler.Verdict {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension HandlerEffect {
    fileprivate func tracked(_ tracking: Tracking) -> HandlerEffect {
        var effect = self
        effect.tracking = tracking
        return effect
    }
}
