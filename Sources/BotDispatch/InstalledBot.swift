package import BotKit
import Metrics
import PikaCore

/// A bot in its place: as the configuration of one account has it.
package struct InstalledBot: Sendable {
    /// The bot's name; with a number behind it from its second place in the same account on.
    package let label: String
    let policy: BotPolicy
    let handlers: [Handler]
    let metrics: [HandlerMetrics]

    package init(_ bot: any Bot, label: String, policy: BotPolicy = BotPolicy()) {
        self.label = label
        self.policy = policy
        handlers = bot.handlers
        metrics = handlers.map { HandlerMetrics(handler: "\(label) \($0.label)") }
    }

    /// The handler that takes an event, by its place, and what it would do; nil if none does.
    func work(for event: CoreEvent, in scope: EventScope) -> (index: Int, work: Handler.Work)? {
        for (index, handler) in handlers.enumerated() {
            if let work = handler.accept(event, scope) { return (index, work) }
        }
        return nil
    }
}

/// What is counted for one handler.
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
        let dimensions = [("handler", handler), ("class", "\(type(of: error))")]
        Counter(label: "bot_handler_errors_total", dimensions: dimensions).increment()
    }
}
