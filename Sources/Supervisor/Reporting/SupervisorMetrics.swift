import Metrics

/// `bot_supervisor_restarts_total{bot,reason}`, `bot_supervisor_quarantined` and `bot_config_reload_success`.
struct SupervisorMetrics {
    private var quarantined: Set<String> = []
    private let quarantinedGauge = Gauge(label: "bot_supervisor_quarantined")

    private let reloadGauge = Gauge(label: "bot_config_reload_success")

    init() {
        quarantinedGauge.record(0)
        // The supervisor started, so its configuration was valid.
        reloadGauge.record(1)
    }

    func recordReload(_ isSuccess: Bool) { reloadGauge.record(isSuccess ? 1 : 0) }

    mutating func record(_ event: SupervisorEvent) {
        switch event {
        case .restarting(let worker, _, let reason):
            let dimensions = [("bot", worker), ("reason", reason.rawValue)]
            Counter(label: "bot_supervisor_restarts_total", dimensions: dimensions).increment()
        case .quarantined(let worker, _):
            quarantined.insert(worker)
            quarantinedGauge.record(quarantined.count)
        case .started(let worker, _), .stopped(let worker):
            guard quarantined.remove(worker) != nil else { return }
            quarantinedGauge.record(quarantined.count)
        case .ready, .draining, .workerEvent, .alive, .hung, .exited: break
        }
    }
}
