import BotKit
import Synchronization

/// The result of the latest canaries and checks of a group.
struct CanaryReport: Sendable, Hashable {
    struct Mirror: Sendable, Hashable {
        var name: String
        var answered: Int
        var disorder: Int
        var duplicates: Int
        /// The mirror's epoch, if its view has differed from the sender's for longer than a canary's timeout.
        var divergingEpoch: UInt64?
        var isMember: Bool
    }

    /// Whether the sender is in the group.
    var isInGroup: Bool
    var epoch: UInt64?
    /// The reason why the sender cannot follow the group's history; nil if it can.
    var halt: String?
    /// The number of canaries whose timeout has passed.
    var judged: Int
    var mirrors: [Mirror]
    /// The checks in the order of the settings, without those that have never completed.
    private var ended: [Ended]
    private var goal: Double

    private struct Ended: Sendable, Hashable {
        var name: String
        var verdict: CheckVerdict
    }

    init(
        _ group: GroupSettings, _ settings: SenderSettings, _ chat: AppState.ChatSummary?, sent: SentLog?,
        heard: AnswerLog?, verdicts: [String: CheckVerdict], now: Int64
    ) {
        let timeout = Int64(settings.timeout / .milliseconds(1))
        let judged = Set(sent?.overdue(at: now, timeout: timeout) ?? [])
        let members = Set(chat?.members.map(\.publicKey) ?? [])
        let logs = heard?.series == sent?.series ? heard?.mirrors ?? [:] : [:]
        isInGroup = chat != nil
        epoch = chat?.epoch
        halt = chat?.halt
        self.judged = judged.count
        goal = settings.delivery
        mirrors = group.mirrors.map { mirror in
            let log = logs[mirror.account.hex] ?? AnswerLog.Mirror()
            return Mirror(
                name: mirror.name, answered: judged.intersection(log.answered).count, disorder: log.disorder,
                duplicates: log.duplicates, divergingEpoch: log.difference > timeout ? log.view?.epoch : nil,
                isMember: chat?.halt != nil || members.contains(mirror.account))
        }
        ended = group.checks.compactMap { check in
            verdicts[check.name].map { Ended(name: check.name, verdict: $0) }
        }
    }

    /// The ratio over all mirrors; nil before the first canary's timeout has passed.
    var deliveryRatio: Double? {
        guard judged > 0, !mirrors.isEmpty else { return nil }
        return Double(mirrors.reduce(0) { $0 + $1.answered }) / Double(judged * mirrors.count)
    }

    var diverging: Int { mirrors.count { $0.divergingEpoch != nil } }

    var isGood: Bool { faults.isEmpty }

    /// The current faults, each as a word that stays the same while the fault lasts.
    var faults: Set<String> {
        guard isInGroup else { return ["group"] }
        var faults = Set(mirrors.filter { $0.divergingEpoch != nil }.map { "diverged \($0.name)" })
        if halt != nil { faults.insert("halt") }
        if let deliveryRatio, deliveryRatio < goal { faults.insert("delivery") }
        return faults.union(ended.filter { !$0.verdict.isPassed }.map { "check \($0.name)" })
    }

    /// The metrics without the label `target`.
    var samples: [MetricSample] {
        var samples = [
            MetricSample("group_canary_diverged", [:], Double(diverging)),
            MetricSample("group_canary_halted", [:], halt == nil ? 0 : 1),
        ]
        if !isInGroup {
            samples.append(MetricSample("group_canary_delivery_ratio", [:], 0))
        } else if let deliveryRatio {
            samples.append(MetricSample("group_canary_delivery_ratio", [:], deliveryRatio))
        }
        return samples
            + ended.map {
                MetricSample("group_canary_check_passed", ["check": $0.name], $0.verdict.isPassed ? 1 : 0)
            }
    }

    /// The report as text, one statement per line.
    var lines: [String] {
        guard isInGroup else { return ["the sender is not in the group, or the group has not been created yet"] }
        let halted = halt.map { ["the sender cannot follow the group's history, \($0)"] } ?? []
        return halted + mirrors.map { line($0) } + ended.map(Self.line)
    }

    private func line(_ mirror: Mirror) -> String {
        var parts = ["\(mirror.name) answered \(mirror.answered) of the latest \(judged) canaries"]
        if mirror.disorder > 0 { parts.append("\(mirror.disorder) out of order") }
        if mirror.duplicates > 0 { parts.append("\(mirror.duplicates) twice") }
        if !mirror.isMember { parts.append("it is not in the group") }
        if let diverging = mirror.divergingEpoch {
            parts.append("it is in epoch \(diverging) or sees other members; the sender is in epoch \(epoch ?? 0)")
        }
        return parts.joined(separator: "; ")
    }

    private static func line(_ ended: Ended) -> String {
        let spoke =
            ended.verdict.afterMilliseconds.map { "an answer arrived after \($0) ms" } ?? "no answer arrived in time"
        return "check \(ended.name) \(ended.verdict.isPassed ? "passed" : "failed"): \(spoke)"
    }
}

extension CanaryReport {
    /// Exports the metrics, and logs when a fault appears or all faults have cleared.
    func publish(_ target: String, _ memory: CanarySender.Memory, _ context: BotContext) {
        for var sample in samples {
            sample.labels["target"] = target
            context.services.metrics.set(sample)
        }
        let faults = faults
        let before = memory.faults.withLock { $0.updateValue(faults, forKey: target) } ?? []
        let metadata: Logger.Metadata = ["target": "\(target)", "report": "\(lines.joined(separator: " | "))"]
        if !faults.isSubset(of: before) {
            context.logger.warning("Canaries of a group are failing", metadata: metadata)
        } else if faults.isEmpty, !before.isEmpty {
            context.logger.info("Canaries of a group have recovered", metadata: metadata)
        }
    }
}
