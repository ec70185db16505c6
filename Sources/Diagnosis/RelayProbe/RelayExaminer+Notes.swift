import BotKit
import Nostr

extension RelayExaminer {
    func pass(_ phase: RelayPhase, since began: ContinuousClock.Instant, _ text: String) {
        note(phase, .passed, .now - began, text)
    }

    func pass(_ phase: RelayPhase, after duration: Duration, _ text: String) { note(phase, .passed, duration, text) }

    /// Marks a phase as not applicable.
    func skip(_ phase: RelayPhase, _ why: String) { note(phase, .skipped, .zero, why) }

    /// Marks a phase as impossible to examine.
    func markUnreached(_ phase: RelayPhase, _ why: String) { note(phase, .unreached, .zero, why) }

    func fail(
        _ code: RelayFault, _ phase: RelayPhase, _ weight: RelayProbeReport.Weight,
        since began: ContinuousClock.Instant,
        _ text: String, _ advice: String
    ) {
        note(phase, .failed, .now - began, text)
        addFault(code, phase, weight, text, advice)
    }

    /// Reports a fault without setting the phase's outcome.
    func addFault(
        _ code: RelayFault, _ phase: RelayPhase, _ weight: RelayProbeReport.Weight, _ text: String, _ advice: String
    ) {
        guard !hasFault(code, phase) else { return }
        report.faults.append(.init(code, phase, weight, text, advice: advice))
    }

    func hasFault(_ code: RelayFault, _ phase: RelayPhase? = nil) -> Bool {
        report.faults.contains { $0.code == code && (phase == nil || $0.phase == phase) }
    }

    /// Reports a rate-limit refusal once, whichever event was refused.
    func noteRateLimit(_ weight: RelayProbeReport.Weight, _ text: String) {
        guard !hasFault(.rateLimited) else { return }
        note(.rate, .failed, .now - began, "limits the write rate: \(text)")
        addFault(
            .rateLimited, .rate, weight, "limits the write rate below that of a busy group: \(text)",
            "ask its operator for a higher rate, or use another relay for busy groups")
    }

    /// Sets a phase's outcome; the latest counts, except that a failure is final.
    private func note(
        _ phase: RelayPhase, _ outcome: RelayProbeReport.Outcome, _ duration: Duration, _ text: String
    ) {
        let entry = RelayProbeReport.Phase(phase, outcome, duration, text)
        guard let index = report.phases.firstIndex(where: { $0.name == phase }) else {
            return report.phases.append(entry)
        }
        if report.phases[index].outcome != .failed { report.phases[index] = entry }
    }

    /// Phases without which a reachable relay cannot be judged.
    private var essentials: [RelayPhase] { probe.writes ? [.subscribe, .write, .live, .readback] : [.subscribe] }

    private func reportTooSlow() {
        guard budget.isSpent, report.isGood, let missing = essentials.first(where: { report.phase($0) == nil }) else {
            return
        }
        fail(
            .tooSlow, missing, .error, since: .now,
            "is too slow: the timeout of \(probe.timeout) expired before this check",
            "increase the probe's timeout, or use another relay")
    }

    /// Gives every remaining phase an outcome.
    func completePhases() {
        reportTooSlow()
        let why =
            isDead || report.phase(.upgrade)?.outcome != .passed
            ? "no connection"
            : !probe.writes ? "writing is disabled" : budget.isSpent ? "no time left" : "a required check failed"
        for phase in RelayPhase.allCases where report.phase(phase) == nil {
            if isDead || probe.writes || report.phase(.subscribe)?.outcome != .passed {
                markUnreached(phase, why)
            } else {
                skip(phase, why)
            }
        }
        let order = Dictionary(uniqueKeysWithValues: RelayPhase.allCases.enumerated().map { ($0.element, $0.offset) })
        report.phases.sort { order[$0.name, default: 0] < order[$1.name, default: 0] }
    }
}

extension Kind {
    var phase: RelayPhase? { RelayPhase(rawValue: "kind_\(rawValue)") }
}
