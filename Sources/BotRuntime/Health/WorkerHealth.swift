import Foundation
import Nostr
import PikaCore
import ServiceLifecycle
import Telemetry

/// Answers for a worker how it is, and what it has counted.
struct WorkerHealth: Service {
    let core: AppCore
    let examination: HealthExamination
    let board: CanaryBoard
    let registry: MetricRegistry
    let clock: any CoreClock
    /// Whether the bots' dispatcher goes on; waits as long as that takes.
    let isDispatching: @Sendable () async -> Bool
    private let gauges: WorkerGauges
    private let deafTime: DeafTime

    init(
        core: AppCore, examination: HealthExamination, board: CanaryBoard, registry: MetricRegistry,
        clock: any CoreClock, isDispatching: @escaping @Sendable () async -> Bool
    ) {
        self.core = core
        self.examination = examination
        self.board = board
        self.registry = registry
        self.clock = clock
        self.isDispatching = isDispatching
        gauges = WorkerGauges(relays: examination.relays)
        deafTime = DeafTime(now: clock.nowMilliseconds)
    }

    /// Follows the snapshots, for what depends on every change.
    func run() async {
        await cancelWhenGracefulShutdown {
            for await update in core.updates() {
                if case .fullState(let state) = update { note(state) }
            }
        }
    }

    /// Every check, and the gauges that follow. An answer means that core and dispatcher do their work.
    func report() async -> HealthReport {
        let vitals = await core.vitals()
        var checks = examination.checks(vitals, { board[$0] }, now: clock.nowMilliseconds)
        let dispatching = await isDispatching()
        checks.append(
            HealthCheck(
                check: "bots", ok: dispatching,
                message: dispatching ? "events are handed to the bots" : "the dispatcher has ended"))
        gauges.set(checks)
        if let vitals {
            gauges.set(vitals)
            note(vitals.state)
        }
        return HealthReport(checks)
    }

    /// All metrics of the process, as they are now.
    func metrics() async -> [MetricFamily] {
        _ = await report()
        return registry.families() + ProcessMetrics.families()
    }

    private func note(_ state: AppState) {
        let isConnected = state.relays.contains { status in
            status.connection == .connected && examination.relays.contains(status.url)
        }
        deafTime.note(isConnected: isConnected, now: clock.nowMilliseconds)
    }
}

extension WorkerHealth {
    /// Adds `health` and `metrics` to what the supervisor may ask.
    func answer(_ requests: inout WorkerRequests) {
        requests.on("health") { _ in try JSONValue(encoding: await report()) }
        requests.on("metrics") { _ in try JSONValue(encoding: await metrics()) }
    }
}

extension JSONValue {
    init(encoding value: some Encodable) throws {
        try self.init(json: Array(JSONEncoder().encode(value)))
    }
}
