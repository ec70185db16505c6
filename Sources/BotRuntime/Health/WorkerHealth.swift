import Foundation
import Nostr
import PikaCore
import ServiceLifecycle
import Telemetry

/// Answers the supervisor's requests for a worker's health and metrics.
struct WorkerHealth: Service {
    /// Timeout of the dispatcher's answer in milliseconds.
    private static let dispatcherTimeout: Int64 = 3000

    let core: AppCore
    let examination: HealthExamination
    let canaryResults: CanaryResults
    let registry: MetricRegistry
    let clock: any CoreClock
    /// Returns whether the bots' dispatcher is responsive; waits for its answer.
    let isDispatching: @Sendable () async -> Bool
    /// Returns the number of hanging handlers of each bot.
    let hanging: @Sendable () -> [String: Int]
    private let gauges: WorkerGauges
    private let disconnectedTime: DisconnectedTime

    init(
        core: AppCore, examination: HealthExamination, canaryResults: CanaryResults, registry: MetricRegistry,
        clock: any CoreClock, isDispatching: @escaping @Sendable () async -> Bool,
        hanging: @escaping @Sendable () -> [String: Int]
    ) {
        self.core = core
        self.examination = examination
        self.canaryResults = canaryResults
        self.registry = registry
        self.clock = clock
        self.isDispatching = isDispatching
        self.hanging = hanging
        gauges = WorkerGauges()
        disconnectedTime = DisconnectedTime(now: clock.nowMilliseconds)
    }

    /// Follows the snapshots, for metrics that depend on every change.
    func run() async {
        await cancelWhenGracefulShutdown {
            for await update in core.updates() {
                if case .fullState(let state) = update { note(state) }
            }
            // The core has ended, and reports the reason itself.
            try? await gracefulShutdown()
        }
    }

    /// Runs every check and updates the derived gauges; nil if the core has ended. A result means that the core is
    /// responsive.
    func report() async -> HealthReport? { await examine()?.report }

    /// Does the same, and returns the vitals that the report is based on.
    func examine() async -> (report: HealthReport, vitals: CoreVitals)? {
        guard let vitals = await core.vitals() else { return nil }
        var checks = examination.checks(vitals, { canaryResults[$0] }, now: clock.nowMilliseconds)
        checks.append(HealthExamination.bots(areServed: await isDispatcherResponsive(), hanging: hanging()))
        gauges.set(checks)
        gauges.set(core.quarantine)
        gauges.set(vitals, relays: examination.relays.current)
        note(vitals.state)
        return (HealthReport(checks), vitals)
    }

    /// Returns the current values of all metrics of the process.
    func metrics() async -> [MetricFamily] {
        _ = await report()
        return registry.families() + ProcessMetrics.families()
    }

    private func isDispatcherResponsive() async -> Bool {
        let end = clock.nowMilliseconds + Self.dispatcherTimeout
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await isDispatching() }
            group.addTask {
                try? await clock.sleep(untilMilliseconds: end)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    private func note(_ state: AppState) {
        let relays = examination.relays.current
        let isConnected = state.relays.contains { $0.connection == .connected && relays.contains($0.url) }
        disconnectedTime.note(isConnected: isConnected, now: clock.nowMilliseconds)
    }
}

extension WorkerHealth {
    /// Registers the requests `health` and `metrics` of the supervisor.
    func answer(_ requests: inout WorkerRequests) {
        requests.on("health") { _ in
            guard let report = await report() else { throw WorkerRefusal("the core has ended") }
            return try JSONValue(encoding: report)
        }
        requests.on("metrics") { _ in try JSONValue(encoding: await metrics()) }
    }
}

extension JSONValue {
    init(encoding value: some Encodable) throws {
        try self.init(json: Array(JSONEncoder().encode(value)))
    }
}
