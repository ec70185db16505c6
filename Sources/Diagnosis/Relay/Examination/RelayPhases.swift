import Nostr
import ProbeReports

/// Results of an examination: at most one for each phase, the faults, and what was learned about the relay.
struct RelayPhases: Sendable {
    private(set) var report: RelayProbeReport
    /// The findings of each step, for texts other than the report's; nil for a step that was not reached.
    private(set) var reach: ReachRecord?
    private(set) var information: InformationRecord?
    private(set) var exchange: RelayRecord?
    private let began: ContinuousClock.Instant

    init(_ relay: RelayURL, began: ContinuousClock.Instant) {
        report = RelayProbeReport(relay)
        self.began = began
    }

    /// Whether the relay cannot be examined any further.
    var isDead: Bool { !report.isReachable }

    func hasPassed(_ phase: RelayPhase) -> Bool { report.phase(phase)?.outcome == .passed }

    func hasFault(_ code: RelayFault, _ phase: RelayPhase? = nil) -> Bool {
        report.faults.contains { $0.code == code && (phase == nil || $0.phase == phase) }
    }
}

// MARK: Outcomes

extension RelayPhases {
    mutating func pass(_ phase: RelayPhase, since began: ContinuousClock.Instant, _ text: String) {
        note(phase, .passed, .now - began, text)
    }

    mutating func pass(_ phase: RelayPhase, after duration: Duration, _ text: String) {
        note(phase, .passed, duration, text)
    }

    /// Marks a phase as not applicable.
    mutating func skip(_ phase: RelayPhase, _ why: String) { note(phase, .skipped, .zero, why) }

    /// Marks a phase as impossible to examine.
    mutating func markUnreached(_ phase: RelayPhase, _ why: String) { note(phase, .unreached, .zero, why) }

    mutating func fail(
        _ code: RelayFault, _ phase: RelayPhase, _ weight: RelayProbeReport.Weight,
        since began: ContinuousClock.Instant,
        _ text: String, _ advice: String
    ) {
        fail(code, phase, weight, after: .now - began, text, advice)
    }

    mutating func fail(
        _ code: RelayFault, _ phase: RelayPhase, _ weight: RelayProbeReport.Weight, after duration: Duration,
        _ text: String, _ advice: String
    ) {
        note(phase, .failed, duration, text)
        addFault(code, phase, weight, text, advice)
    }

    /// Reports a fault without setting the phase's outcome.
    mutating func addFault(
        _ code: RelayFault, _ phase: RelayPhase, _ weight: RelayProbeReport.Weight, _ text: String, _ advice: String
    ) {
        guard !hasFault(code, phase) else { return }
        report.faults.append(.init(code, phase, weight, text, advice: advice))
    }

    /// Reports a rate-limit refusal once, whichever event was refused.
    mutating func noteRateLimit(_ weight: RelayProbeReport.Weight, _ text: String) {
        guard !hasFault(.rateLimited) else { return }
        note(.rate, .failed, .now - began, "limits the write rate: \(text)")
        addFault(
            .rateLimited, .rate, weight, "limits the write rate below that of a busy group: \(text)",
            "ask its operator for a higher rate, or use another relay for busy groups")
    }

    /// Sets a phase's outcome; the latest counts, except that a failure is final.
    private mutating func note(
        _ phase: RelayPhase, _ outcome: RelayProbeReport.Outcome, _ duration: Duration, _ text: String
    ) {
        let entry = RelayProbeReport.Phase(phase, outcome, duration, text)
        guard let index = report.phases.firstIndex(where: { $0.name == phase }) else {
            return report.phases.append(entry)
        }
        if report.phases[index].outcome != .failed { report.phases[index] = entry }
    }
}

// MARK: Facts

extension RelayPhases {
    mutating func keep(_ reach: ReachRecord) { self.reach = reach }

    mutating func keep(_ information: InformationRecord) { self.information = information }

    mutating func keep(_ exchange: RelayRecord) { self.exchange = exchange }

    mutating func recordAddress(_ bytes: [UInt8]) { report.address = bytes }

    mutating func recordCertificateEnd(_ end: UnixTime?) { report.certificateEnd = end }

    mutating func recordClockOffset(_ offset: Double) { report.clockOffset = offset }

    mutating func recordInformation(_ document: String, supportedNIPs: [Int]) {
        report.information = document
        report.supportedNIPs = Array(Set(supportedNIPs)).sorted()
    }

    mutating func recordReadBack(_ isReadBack: Bool) { report.isReadBack = isReadBack }

    mutating func recordLoginRequest() { report.wantsLogin = true }
}

// MARK: The end

extension RelayPhases {
    /// The reason why phases without a result were not examined.
    struct Ending: Sendable {
        /// Whether the probe was allowed to write.
        var writes: Bool
        /// Whether no time was left.
        var isSpent: Bool
        /// Timeout of the whole probe.
        var timeout: Duration

        /// Phases without which a reachable relay cannot be judged.
        fileprivate var essentials: [RelayPhase] { writes ? [.subscribe, .write, .live, .readback] : [.subscribe] }
    }

    /// Gives every remaining phase an outcome, and returns the phases in order.
    mutating func complete(_ ending: Ending) -> RelayProbeReport {
        reportTooSlow(ending)
        let isDead = self.isDead
        let why =
            isDead || !hasPassed(.upgrade)
            ? "no connection"
            : !ending.writes ? "writing is disabled" : ending.isSpent ? "no time left" : "a required check failed"
        for phase in RelayPhase.allCases where report.phase(phase) == nil {
            if isDead || ending.writes || !hasPassed(.subscribe) {
                markUnreached(phase, why)
            } else {
                skip(phase, why)
            }
        }
        let order = Dictionary(uniqueKeysWithValues: RelayPhase.allCases.enumerated().map { ($0.element, $0.offset) })
        report.phases.sort { order[$0.name, default: 0] < order[$1.name, default: 0] }
        report.duration = .now - began
        return report
    }

    private mutating func reportTooSlow(_ ending: Ending) {
        guard ending.isSpent, report.isGood,
            let missing = ending.essentials.first(where: { report.phase($0) == nil })
        else { return }
        fail(
            .tooSlow, missing, .error, after: .zero,
            "is too slow: the timeout of \(ending.timeout) expired before this check",
            "increase the probe's timeout, or use another relay")
    }
}

extension Kind {
    var phase: RelayPhase? { RelayPhase(rawValue: "kind_\(rawValue)") }
}
