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
    func miss(_ phase: RelayPhase, _ why: String) { note(phase, .unreached, .zero, why) }

    func fail(
        _ code: RelayFault, _ phase: RelayPhase, _ weight: RelayProbeReport.Weight,
        since began: ContinuousClock.Instant,
        _ text: String, _ advice: String
    ) {
        note(phase, .failed, .now - began, text)
        blame(code, phase, weight, text, advice)
    }

    /// Reports a fault without setting the phase's outcome.
    func blame(
        _ code: RelayFault, _ phase: RelayPhase, _ weight: RelayProbeReport.Weight, _ text: String, _ advice: String
    ) {
        guard !has(code, phase) else { return }
        report.faults.append(.init(code, phase, weight, text, advice: advice))
    }

    func has(_ code: RelayFault, _ phase: RelayPhase? = nil) -> Bool {
        report.faults.contains { $0.code == code && (phase == nil || $0.phase == phase) }
    }

    /// Reports a rate-limit refusal once, whichever event was refused.
    func noteHaste(_ weight: RelayProbeReport.Weight, _ text: String) {
        guard !has(.rateLimited) else { return }
        note(.rate, .failed, .now - began, "lets nobody write so fast: \(text)")
        blame(
            .rateLimited, .rate, weight, "lets nobody write as fast as a group does: \(text)",
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

    private func judgePace() {
        guard budget.isSpent, report.isGood, let missing = essentials.first(where: { report.phase($0) == nil }) else {
            return
        }
        fail(
            .tooSlow, missing, .error, since: .now, "is too slow: after \(probe.timeout) there was no time for this",
            "give the probe more time, or use another relay")
    }

    /// Gives every remaining phase an outcome.
    func skipRest() {
        judgePace()
        let why =
            isDead || report.phase(.upgrade)?.outcome != .passed
            ? "there was no conversation"
            : !probe.writes ? "nothing is written" : budget.isSpent ? "no time was left" : "what it needs did not work"
        for phase in RelayPhase.allCases where report.phase(phase) == nil {
            if isDead || probe.writes || report.phase(.subscribe)?.outcome != .passed {
                miss(phase, why)
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
