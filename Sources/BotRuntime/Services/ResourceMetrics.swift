import BotKit
import BotStorage
import Errors
import Metrics

/// The metrics of bots' connections, outboxes, tokens and databases.
enum ResourceMetrics {
    static let observer: BotResourceEvent.Observer = { event, bot, name in
        switch event {
        case .outboxSize(let count):
            Gauge(label: "bot_requests_waiting", dimensions: [("bot", bot), ("outbox", name)]).record(count)
        case .outboxEnded(let end):
            Counter(
                label: "bot_requests_total", dimensions: [("bot", bot), ("outbox", name), ("result", end.rawValue)]
            ).increment()
        case .connection(let state):
            Gauge(label: "bot_connection_up", dimensions: [("bot", bot), ("connection", name)])
                .record(state == .connected ? 1 : 0)
            guard case .retrying = state else { return }
            Counter(label: "bot_connection_retries_total", dimensions: [("bot", bot), ("connection", name)]).increment()
        case .tokens(let result):
            Counter(
                label: "bot_token_renewals_total",
                dimensions: [("bot", bot), ("tokens", name), ("result", result.rawValue)]
            ).increment()
        case .database(let failure):
            Counter(
                label: "bot_database_failures_total",
                dimensions: [("bot", bot), ("database", name), ("reason", failure.description)]
            ).increment()
        }
    }

    /// Exports the sizes of the open files.
    static func record(_ sizes: [StoredDatabaseSize]) {
        for size in sizes {
            Gauge(label: "bot_database_bytes", dimensions: [("bot", size.bot), ("database", size.name)])
                .record(size.bytes)
        }
    }
}
