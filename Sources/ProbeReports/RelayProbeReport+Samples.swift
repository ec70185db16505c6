package import BotKit
import Nostr

extension RelayProbeReport {
    /// The exported metrics of the report (`docs/metrics.md`), except `probe_success` and `probe_duration_seconds`.
    ///
    /// - Parameter target: The label of a scheduled probe; nil for an answer to `/probe`.
    package func samples(target: String? = nil) -> [MetricSample] {
        let base = target.map { ["target": $0] } ?? [:]
        var samples: [MetricSample] = []
        if let certificateEnd {
            samples.append(MetricSample("probe_ssl_earliest_cert_expiry", base, Double(certificateEnd.seconds)))
        }
        for phase in phases {
            let labels = base.merging(["phase": phase.name.rawValue]) { $1 }
            // A phase that was not reached because of a fault did not pass; a phase that does not apply is omitted.
            guard phase.outcome != .skipped, phase.outcome != .unreached || !isGood else { continue }
            samples.append(
                MetricSample("nostr_probe_phase_success", labels, phase.outcome == .passed ? 1 : 0))
            guard phase.outcome != .unreached else { continue }
            samples.append(
                MetricSample("nostr_probe_phase_duration_seconds", labels, phase.duration / .seconds(1)))
        }
        if let isReadBack { samples.append(MetricSample("nostr_probe_readback_found", base, isReadBack ? 1 : 0)) }
        if let clockOffset { samples.append(MetricSample("nostr_probe_clock_offset_seconds", base, clockOffset)) }
        return samples
    }
}
