import BotDispatch
import ExternalBots
import Metrics
import Nostr
import PikaCore
import Synchronization
import Telemetry

/// The gauges derived from the state of the core, updated on each request for metrics or health.
struct WorkerGauges: Sendable {
    private let info = Gauge(label: "bot_info", dimensions: [("version", SoftwareVersion.current)])
    private let ready = Gauge(label: "bot_ready")
    private let revision = Gauge(label: "bot_state_revision")
    private let groups = Gauge(label: "bot_groups")
    private let inboxDepth = Gauge(label: "bot_inbox_depth")
    private let inboxAge = Gauge(label: "bot_inbox_oldest_age_seconds")
    private let outboxDepth = Gauge(label: "bot_outbox_depth")
    private let outboxAge = Gauge(label: "bot_outbox_oldest_age_seconds")
    private let deadLetters = Gauge(label: "bot_dead_letters")
    private let connected = ConnectedGauges()

    init() {
        // `increase()` ignores the first sample of a series, so every counter used in rules starts at 0.
        _ = Counter(label: "bot_loop_breaker_trips_total")
        _ = Counter(label: "bot_groups_overtaken_total")
        _ = Counter(label: "bot_groups_unrecoverable_total")
        _ = Counter(label: "bot_state_rollbacks_total")
        for result in ["accepted", "failed"] {
            _ = Counter(label: "bot_sends_total", dimensions: [("result", result)])
        }
        for role in RollbackRole.allCases {
            _ = Counter(label: "pikabot_rollbacks_total", dimensions: [("committer", role.rawValue)])
        }
        _ = Counter(label: "bot_decrypt_failures_total", dimensions: [("reason", "gave_up")])
        let reasons = [CoreReason.tooOld.rawValue, CoreReason.tooMany.rawValue, HandlingReason.crashed.rawValue]
        for reason in reasons + ExternalBot.givenUpReasons {
            _ = Counter(label: "bot_inbox_given_up_total", dimensions: [("reason", reason)])
        }
        info.record(1)
    }

    func set(_ quarantine: [QuarantineEntry]) {
        for kind in CrashSubject.Kind.allCases where kind != .pass {
            Gauge(label: "bot_quarantined", dimensions: [("kind", kind.rawValue)])
                .record(quarantine.count { $0.subject.kind == kind })
        }
    }

    /// - Parameter relays: The relays of the configuration.
    func set(_ vitals: CoreVitals, relays: [RelayURL]) {
        revision.record(Double(vitals.state.rev))
        groups.record(vitals.groupCount)
        for halt in GroupHalt.allCases {
            Gauge(label: "bot_groups_halted", dimensions: [("reason", halt.rawValue)])
                .record(vitals.state.chatList.count { GroupHalt($0.convergence) == halt })
        }
        inboxDepth.record(vitals.inboxDepth)
        inboxAge.record(vitals.oldestInboxAt.map { max(0, vitals.takenAt.seconds(since: $0)) } ?? 0)
        outboxDepth.record(vitals.outboxDepth)
        outboxAge.record(vitals.oldestOutboxAt.map { max(0, vitals.takenAt.seconds(since: $0)) } ?? 0)
        deadLetters.record(vitals.deadLetters)
        let parked = vitals.parked
        for (queue, events, bytes) in [
            ("waiting", parked.waiting, parked.waitingBytes), ("held", parked.held, parked.heldBytes),
        ] {
            Gauge(label: "bot_parked_events", dimensions: [("queue", queue)]).record(events)
            Gauge(label: "bot_parked_bytes", dimensions: [("queue", queue)]).record(bytes)
        }
        let open = Set(vitals.state.relays.filter { $0.connection == .connected }.map(\.url))
        // Several addresses on one host share a series, which is 1 only if all are connected.
        connected.set(Dictionary(grouping: relays, by: \.authority).mapValues { $0.allSatisfy(open.contains) })
    }

    func set(_ checks: [HealthCheck]) {
        ready.record(checks.allSatisfy(\.ok) ? 1 : 0)
        for (check, all) in Dictionary(grouping: checks, by: \.check) {
            Gauge(label: "bot_check_passed", dimensions: [("check", check)]).record(all.allSatisfy(\.ok) ? 1 : 0)
        }
    }
}

/// The reason why the account cannot follow a group of the second generation; the raw value is a metric label.
enum GroupHalt: String, CaseIterable {
    /// The last attempt to choose a branch failed; the next one continues it.
    case blocked
    /// Only another invitation helps.
    case unrecoverable

    /// Returns nil for a group that the account follows, or that was ended.
    init?(_ convergence: ChatConvergence?) {
        switch convergence {
        case .blocked?: self = .blocked
        case .unrecoverable?: self = .unrecoverable
        case .settled?, .syncing?, .resolving?, .disbanded?, nil: return nil
        }
    }
}

/// `bot_relay_connected` of each relay; the series of a relay removed from the configuration is removed.
private final class ConnectedGauges: Sendable {
    private let gauges = Mutex<[String: Gauge]>([:])

    func set(_ open: [String: Bool]) {
        gauges.withLock { gauges in
            for (authority, gauge) in gauges where open[authority] == nil {
                gauge.destroy()
                gauges[authority] = nil
            }
            for (authority, isOpen) in open {
                let gauge =
                    gauges[authority] ?? Gauge(label: "bot_relay_connected", dimensions: [("relay", authority)])
                gauge.record(isOpen ? 1 : 0)
                gauges[authority] = gauge
            }
        }
    }
}
