import BotKit
import ProbeReports
import Synchronization

/// The exported metrics of each target, so that outdated ones can be removed.
final class KeyPackageReporter: Sendable {
    private struct Exported: Sendable {
        var isSuccess: Bool?
        var states: [String: RelayKeyPackageResult.State] = [:]
        /// The exported time metrics of key packages, by metric and relay.
        var times: Set<MetricSample> = []
    }

    private let exported = Mutex<[String: Exported]>([:])

    /// - Parameter target: the target's name in the settings, the only identifier in labels and log lines.
    func report(_ report: KeyPackageReport, of target: String, took: Double, _ context: BotContext) {
        let metrics = context.services.metrics
        let states = report.states
        let times = Set(report.times(now: context.now).map { $0.with(value: 0) })
        let before = exported.withLock { exported in
            let before = exported[target] ?? Exported()
            exported[target] = Exported(isSuccess: report.isSuccess, states: states, times: times)
            return before
        }
        for (relay, state) in before.states where states[relay] != state {
            metrics.set(
                MetricSample(
                    "keypackage_relay_state", ["target": target, "relay": relay, "state": state.rawValue], 0))
        }
        for gone in before.times.subtracting(times) { metrics.set(gone.with("target", target)) }
        for sample in report.samples(now: context.now) { metrics.set(sample.with("target", target)) }
        metrics.set(MetricSample("probe_success", ["target": target], report.isSuccess ? 1 : 0))
        metrics.set(MetricSample("probe_duration_seconds", ["target": target], took))
        log(report, target, wasSuccess: before.isSuccess, context)
    }

    /// Logs when a target becomes bad or good.
    private func log(_ report: KeyPackageReport, _ target: String, wasSuccess: Bool?, _ context: BotContext) {
        guard wasSuccess != report.isSuccess, wasSuccess != nil || !report.isSuccess else { return }
        let text = report.lines.joined(separator: " | ")
        if report.isSuccess {
            context.logger.info("A target can be found and invited again", metadata: ["target": "\(target)"])
        } else {
            context.logger.warning(
                "A target cannot be found or invited", metadata: ["target": "\(target)", "report": "\(text)"])
        }
    }
}

extension KeyPackageReport {
    /// The states by host and port; of two URLs on one host the worse state.
    var states: [String: RelayKeyPackageResult.State] {
        Dictionary(relays.map { ($0.relay.authority, $0.state) }) { first, second in second.isUsable ? first : second }
    }

    /// Returns the metrics without the label `target`.
    func samples(now: UnixTime) -> [MetricSample] {
        var samples = [
            MetricSample("keypackage_probe_success", [:], isSuccess ? 1 : 0),
            MetricSample("keypackage_inviteable", [:], isInviteable ? 1 : 0),
        ]
        for (relay, state) in states.sorted(by: { $0.key < $1.key }) {
            samples.append(MetricSample("keypackage_relay_state", ["relay": relay, "state": state.rawValue], 1))
        }
        return samples + times(now: now)
    }

    /// Returns the time metrics of relays that hold a key package.
    func times(now: UnixTime) -> [MetricSample] {
        var seen: Set<String> = []
        var samples: [MetricSample] = []
        for holding in relays where seen.insert(holding.relay.authority).inserted {
            guard let package = holding.package else { continue }
            let labels = ["relay": holding.relay.authority]
            let age = Double(now.seconds(since: package.createdAt))
            samples.append(MetricSample("keypackage_age_seconds", labels, age))
            guard let end = package.notAfter else { continue }
            samples.append(MetricSample("keypackage_not_after_timestamp_seconds", labels, Double(end.seconds)))
        }
        return samples
    }
}

extension MetricSample {
    fileprivate func with(_ label: String, _ value: String) -> MetricSample {
        MetricSample(name, labels.merging([label: value]) { _, new in new }, self.value)
    }

    fileprivate func with(value: Double) -> MetricSample { MetricSample(name, labels, value) }
}
