import Metrics
import PikaCore

/// The transport's counters: `bot_relay_reconnects_total{reason}`, `bot_relay_messages_received_total`,
/// `bot_events_duplicate_total` and `bot_relay_publishes_total{outcome}`. Refusals are counted by their receiver.
struct TransportMetrics: Sendable {
    private let received = Counter(label: "bot_relay_messages_received_total")
    private let duplicates = Counter(label: "bot_events_duplicate_total")
    private let lost: [Disconnection.Reason: Counter]
    private let accepted = TransportMetrics.outcome("accepted")
    private let rejected = TransportMetrics.outcome("refused")
    private let unreachable = TransportMetrics.outcome("unreachable")

    init() {
        // A deliberate disconnection is not followed by a reconnect.
        let reasons = Disconnection.Reason.allCases.filter { $0 != .goodbye }
        lost = Dictionary(
            uniqueKeysWithValues: reasons.map {
                ($0, Counter(label: "bot_relay_reconnects_total", dimensions: [("reason", $0.rawValue)]))
            })
    }

    func countReceived() { received.increment() }
    func countDuplicate() { duplicates.increment() }
    func count(_ loss: Disconnection.Reason) { lost[loss]?.increment() }

    func count(_ outcome: PublishReport.Outcome) {
        switch outcome {
        case .accepted: accepted.increment()
        case .refused: rejected.increment()
        case .unreachable: unreachable.increment()
        }
    }

    private static func outcome(_ name: String) -> Counter {
        Counter(label: "bot_relay_publishes_total", dimensions: [("outcome", name)])
    }
}
