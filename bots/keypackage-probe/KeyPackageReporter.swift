import BotKit
import ProbeReports
import Synchronization

/// The exported metrics of each target, so that outdated ones can be reset or removed.
final class KeyPackageReporter: Sendable {
    private struct Exported: Sendable {
        var isSuccess: Bool?
        /// The exported metrics, with the value 0.
        var series: Set<MetricSample> = []
    }

    fileprivate static let listMetric = "keypackage_list_ok"

    private let exported = Mutex<[String: Exported]>([:])

    /// - Parameter target: the target's name in the settings, the only identifier in labels and log lines.
    func report(_ report: KeyPackageReport, of target: String, took: Double, _ context: BotContext) {
        let metrics = context.services.metrics
        let samples = report.samples(now: context.now).map { $0.with("target", target) }
        let series = Set(samples.map { $0.with(value: 0) })
        let before = exported.withLock { exported in
            let before = exported[target] ?? Exported()
            exported[target] = Exported(isSuccess: report.isSuccess, series: series)
            return before
        }
        for gone in before.series.subtracting(series) {
            // 0 would report a list that no longer matters as broken.
            if gone.name == Self.listMetric { metrics.remove(gone) } else { metrics.set(gone) }
        }
        for sample in samples { metrics.set(sample) }
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
    /// Returns the metrics without the label `target`.
    func samples(now: UnixTime) -> [MetricSample] {
        var samples = [MetricSample("keypackage_probe_success", [:], isSuccess ? 1 : 0)]
        for list in lists where relevantGenerations.contains(where: { $0.uses(list.kind) }) {
            samples.append(
                MetricSample(
                    KeyPackageReporter.listMetric, ["list": list.kind.description], list.problem == nil ? 1 : 0))
        }
        for generation in GroupGeneration.allCases {
            samples.append(
                MetricSample(
                    "keypackage_inviteable", ["protocol": generation.rawValue], self[generation].isInviteable ? 1 : 0))
        }
        return samples + relevantGenerations.flatMap { self.samples(of: $0, now: now) }
    }

    /// The findings by host and port; of two URLs on one host the worse one.
    private func findings(_ generation: GroupGeneration) -> [(String, RelayKeyPackageResult)] {
        let relays = relevantRelays(generation).map { ($0.relay.authority, $0) }
        return Dictionary(relays) { first, second in second.state.isUsable ? first : second }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func samples(of generation: GroupGeneration, now: UnixTime) -> [MetricSample] {
        var samples: [MetricSample] = []
        for (relay, result) in findings(generation) {
            let labels = ["protocol": generation.rawValue, "relay": relay]
            samples.append(
                MetricSample(
                    "keypackage_relay_state", labels.merging(["state": result.state.rawValue]) { _, new in new }, 1))
            guard let package = result.package else { continue }
            if let check = package.failedCheck {
                samples.append(
                    MetricSample("keypackage_failed_check", labels.merging(["check": check]) { _, new in new }, 1))
            }
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
