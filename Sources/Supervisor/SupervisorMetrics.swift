import Metrics

/// `bot_supervisor_restarts_total{bot,reason}` and `bot_supervisor_quarantined`.
struct SupervisorMetrics {
    private var lastReason: [String: String] = [:]
    private var quarantined: Set<String> = []
    private let quarantinedGauge = Gauge(label: "bot_supervisor_quarantined")

    mutating func record(_ event: SupervisorEvent) {
        switch event {
        case .exited(let worker, let exit):
            lastReason[worker] = Self.reason(exit)
        case .restarting(let worker, _):
            let dimensions = [("bot", worker), ("reason", lastReason[worker] ?? "none")]
            Counter(label: "bot_supervisor_restarts_total", dimensions: dimensions).increment()
        case .quarantined(let worker):
            quarantined.insert(worker)
            quarantinedGauge.record(quarantined.count)
        case .started, .ready, .draining, .workerEvent: break
        }
    }

    private static func reason(_ exit: WorkerExit) -> String {
        switch exit {
        case .exited: "exit"
        case .signaled: "signal"
        case .failedToStart: "start"
        }
    }
}
