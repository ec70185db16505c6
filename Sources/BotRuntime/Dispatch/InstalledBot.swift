import BotKit
import Metrics
import Nostr
import PikaCore

/// A bot in its place: as the configuration of one account has it.
struct InstalledBot: Sendable {
    /// The bot's name; with a number behind it from its second place in the same account on.
    let label: String
    let groups: BotConfiguration.GroupScope
    let handlers: [Handler]
    let metrics: [HandlerMetrics]

    init(_ bot: any Bot, label: String, groups: BotConfiguration.GroupScope) {
        self.label = label
        self.groups = groups
        handlers = bot.handlers
        metrics = handlers.map { HandlerMetrics(handler: "\(label) \($0.label)") }
    }

    /// The handler that takes an event, by its place, and what it would do; nil if the bot has nothing to do with it.
    func work(for event: CoreEvent, in scope: EventScope) -> (index: Int, work: Handler.Work)? {
        guard admits(event, in: scope) else { return nil }
        for (index, handler) in handlers.enumerated() {
            if let work = handler.accept(event, scope) { return (index, work) }
        }
        return nil
    }

    /// Whether the bot may be triggered at all: not by itself, and by messages in groups as `groups:` says.
    private func admits(_ event: CoreEvent, in scope: EventScope) -> Bool {
        switch event.content {
        case .message(let message):
            guard message.sender != scope.account else { return false }
            switch groups {
            case .all: return true
            case .mention: return !scope.isGroup || EventFilter.mention.matches(message, in: scope)
            case .none: return !scope.isGroup
            }
        case .call(let call): return call.sender != scope.account
        case .commit, .joined: return true
        }
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
