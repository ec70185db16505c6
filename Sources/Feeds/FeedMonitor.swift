import Errors
package import FeedRules
import Metrics
import Nostr
package import PikaCore
import Synchronization

/// The conditions of an account's feeds, as recorded by their drivers, and their metrics.
package final class FeedMonitor: Sendable {
    private let clock: any CoreClock
    private let state: Mutex<[String: FeedStatus]>
    private let names: [String]

    package init(_ plans: [FeedPlan], clock: any CoreClock) {
        self.clock = clock
        names = plans.map(\.name)
        var statuses: [String: FeedStatus] = [:]
        for plan in plans {
            statuses[plan.name] = FeedStatus(name: plan.name, kind: plan.source.kind, now: clock.now)
        }
        state = Mutex(statuses)
    }

    /// Registers the metrics of every feed.
    func announceMetrics() {
        for name in names {
            // `increase()` ignores the first sample of a series, so counters start at 0.
            for result in FeedResult.allCases {
                _ = Counter(label: "feed_items_total", dimensions: [("feed", name), ("result", result.rawValue)])
            }
            Gauge(label: "feed_up", dimensions: [("feed", name)]).record(0)
        }
    }

    /// The current conditions, in the order of the configuration.
    package var statuses: [FeedStatus] {
        state.withLock { state in names.compactMap { state[$0] } }
    }

    package func enter(_ state: FeedStatus.State, _ feed: String) {
        change(feed) { $0.enter(state, now: $1) }
        Gauge(label: "feed_up", dimensions: [("feed", feed)]).record(state == .connected ? 1 : 0)
    }

    package func fail(_ feed: String, _ error: FeedError) {
        change(feed) { $0.fail(error, now: $1) }
        count(error, feed)
        Gauge(label: "feed_up", dimensions: [("feed", feed)]).record(0)
    }

    /// Records an error that does not end the source.
    package func note(_ feed: String, _ error: FeedError) {
        change(feed) { status, _ in status.note(error) }
        count(error, feed)
    }

    package func recover(_ feed: String) { change(feed) { status, _ in status.recover() } }

    /// The consecutive failures of a feed's source.
    package func failures(of feed: String) -> Int { state.withLock { $0[feed]?.failures ?? 0 } }

    package func receive(_ result: FeedResult, _ feed: String) {
        change(feed) { $0.receive(isDuplicate: result == .duplicate, now: $1) }
        Counter(label: "feed_items_total", dimensions: [("feed", feed), ("result", result.rawValue)]).increment()
    }

    private func change(_ feed: String, _ body: (inout FeedStatus, UnixTime) -> Void) {
        let now = clock.now
        state.withLock { state in
            guard var status = state[feed] else { return }
            body(&status, now)
            state[feed] = status
        }
    }

    private func count(_ error: FeedError, _ feed: String) {
        Counter(
            label: "feed_errors_total", dimensions: [("feed", feed), ("reason", error.code.description)]
        ).increment()
    }
}

/// The result of an item that reached the inbox; the raw values are metric labels.
package enum FeedResult: String, Sendable, CaseIterable {
    case stored
    case duplicate
}

extension FeedPlan.Source {
    /// The key of the kind in the configuration.
    package var kind: String {
        switch self {
        case .webhook: "webhook"
        case .webSocket: "websocket"
        case .poll: "poll"
        case .sse: "sse"
        case .directory: "directory"
        case .program: "program"
        }
    }
}
