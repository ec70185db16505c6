import BotKit
import ProbeReports
import Synchronization

/// Returns scripted reports and records the probed accounts.
final class FakeProbes: BotKeyPackageProbes {
    private let reports = Mutex<[PublicKey: KeyPackageReport]>([:])
    private let asked = Mutex<[KeyPackageProbeRequest]>([])
    /// The clock and the duration of slow probes, in milliseconds.
    let slowness = Mutex<(clock: any CoreClock, milliseconds: Int64)?>(nil)
    /// Whether probes are cancelled before they have a result.
    let givesUp = Mutex(false)

    var requests: [KeyPackageProbeRequest] { asked.withLock { $0 } }

    subscript(account: PublicKey) -> KeyPackageReport? {
        get { reports.withLock { $0[account] } }
        set { reports.withLock { $0[account] = newValue } }
    }

    func probe(_ request: KeyPackageProbeRequest) async throws -> KeyPackageReport {
        asked.withLock { $0.append(request) }
        if givesUp.withLock({ $0 }) { throw CancellationError() }
        if let (clock, milliseconds) = slowness.withLock({ $0 }) {
            try await clock.sleep(untilMilliseconds: clock.nowMilliseconds + milliseconds)
        }
        return self[request.account]
            ?? KeyPackageReport(account: request.account)
    }
}

/// The current value of each gauge.
final class RecordedMetrics: BotMetrics {
    private let gauges = Mutex<[MetricSample: Double]>([:])

    func set(_ sample: MetricSample) {
        gauges.withLock { $0[MetricSample(sample.name, sample.labels, 0)] = sample.value }
    }

    func remove(_ sample: MetricSample) {
        gauges.withLock { $0[MetricSample(sample.name, sample.labels, 0)] = nil }
    }

    func observe(_ sample: MetricSample) {}
    func add(_ sample: MetricSample) {}

    var labels: Set<String> { Set(gauges.withLock { $0.keys.flatMap { $0.labels.values } }) }

    func value(_ name: String, _ labels: [String: String]) -> Double? {
        gauges.withLock { $0[MetricSample(name, labels, 0)] }
    }
}
