import Metrics
import Nostr

/// Metrics of the events delivered to the handlers.
enum EventCounters {
    static func count(_ event: CoreEvent) {
        Counter(label: "bot_events_received_total", dimensions: [("type", Self.type(of: event))]).increment()
        Gauge(label: "bot_last_event_timestamp_seconds").record(event.receivedAt.seconds)
        if case .call(let call) = event.content {
            Counter(label: "bot_call_signals_total", dimensions: [("type", call.signal.type)]).increment()
        }
    }

    private static func type(of event: CoreEvent) -> String {
        switch event.content {
        case .message(let message):
            switch message.kind {
            case .chatMessage: "message"
            case .reaction: "reaction"
            case .hypernote, .hypernoteResponse: "hypernote"
            default: "other"
            }
        case .commit: "commit"
        case .proposal: "proposal"
        case .call: "call"
        case .joined: "joined"
        case .withdrawn: "withdrawn"
        case .outcome: "outcome"
        case .feed: "feed"
        }
    }
}
