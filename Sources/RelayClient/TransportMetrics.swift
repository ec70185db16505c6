import Metrics
import PikaCore

/// What the transport counts: `relay_connections_lost_total{reason}`, `relay_messages_received_total`,
/// `relay_events_duplicate_total`, `relay_refused_total{reason}` and `relay_publish_total{outcome}`.
struct TransportMetrics: Sendable {
    private let received = Counter(label: "relay_messages_received_total")
    private let duplicates = Counter(label: "relay_events_duplicate_total")
    private let lost: [Disconnection.Reason: Counter]
    private let refused: [Refusal: Counter]
    private let accepted = TransportMetrics.outcome("accepted")
    private let rejected = TransportMetrics.outcome("refused")
    private let unreachable = TransportMetrics.outcome("unreachable")

    init() {
        lost = Dictionary(
            uniqueKeysWithValues: Disconnection.Reason.allCases.map {
                ($0, Counter(label: "relay_connections_lost_total", dimensions: [("reason", $0.rawValue)]))
            })
        refused = Dictionary(
            uniqueKeysWithValues: Refusal.allCases.map {
                ($0, Counter(label: "relay_refused_total", dimensions: [("reason", $0.rawValue)]))
            })
    }

    func countReceived() { received.increment() }
    func countDuplicate() { duplicates.increment() }
    func count(_ loss: Disconnection.Reason) { lost[loss]?.increment() }
    func count(_ refusal: Refusal) { refused[refusal]?.increment() }

    func count(_ outcome: PublishReport.Outcome) {
        switch outcome {
        case .accepted: accepted.increment()
        case .refused: rejected.increment()
        case .unreachable: unreachable.increment()
        }
    }

    private static func outcome(_ name: String) -> Counter {
        Counter(label: "relay_publish_total", dimensions: [("outcome", name)])
    }
}
