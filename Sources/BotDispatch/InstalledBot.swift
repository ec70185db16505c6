package import BotKit
import Errors
import Metrics
import PikaCore

/// A bot as configured for one account.
package struct InstalledBot: Sendable {
    /// The bot's name, unique in its account.
    package let label: String
    package var policy: BotPolicy
    let handlers: [Handler]
    let errorHandlers: [BotErrorHandler]
    let metrics: [HandlerMetrics]
    private let middleware: [BotMiddleware]
    let timesItself: Bool

    package init(_ bot: any Bot, label: String, policy: BotPolicy = BotPolicy()) {
        self.label = label
        self.policy = policy
        let own = bot.handlers
        handlers = own + [bot.help.handler(for: own)].compactMap(\.self)
        errorHandlers = bot.errorHandlers
        middleware = bot.middleware
        timesItself = bot is any SelfTimingBot
        metrics = handlers.map { HandlerMetrics(handler: "\(label) \($0.label)") }
    }

    /// Returns the first handler that accepts a trigger, by index, and its work; nil if none does.
    func work(for trigger: BotTrigger, in scope: EventScope) -> (index: Int, work: Handler.Work)? {
        for (index, handler) in handlers.enumerated() {
            if let work = handler.accept(trigger, scope) { return (index, BotMiddleware.wrap(work, in: middleware)) }
        }
        return nil
    }

    /// The treatment of the outcomes of the bot's actions.
    var tracking: HandlerEffect.Tracking { handlers.contains { $0.handlesOutcomes } ? .reported : .counted }

    /// Names of the conversations that the bot declares.
    var conversations: Set<String> { Set(handlers.compactMap(\.conversation)) }
    /// The deadline of each handler.
    var timeout: Duration { timesItself ? .milliseconds(Int64.max) : policy.timeout }
    var schedules: [ScheduleDeclaration] { handlers.compactMap(\.schedule) }
    /// The probe modules that the bot answers.
    var probes: [String] { handlers.compactMap(\.probe) }
}

/// The metrics of one handler.
struct HandlerMetrics: Sendable {
    private let handler: String
    private let duration: Metrics.Timer
    private let timeouts: Counter

    init(handler: String) {
        self.handler = handler
        duration = Metrics.Timer(label: "bot_handler_duration_seconds", dimensions: [("handler", handler)])
        timeouts = Counter(label: "bot_handler_timeouts_total", dimensions: [("handler", handler)])
    }

    func record(milliseconds: Int64) { duration.recordMilliseconds(max(0, milliseconds)) }
    func countTimeout() { timeouts.increment() }

    func count(_ error: any Error) {
        let name = (error as? BotError)?.code.description ?? "\(type(of: error))"
        Counter(label: "bot_handler_errors_total", dimensions: [("handler", handler), ("class", name)]).increment()
    }
}
