/// Time budget of a probe.
struct ProbeBudget: Sendable {
    /// Deadline of all steps but the last.
    let end: ContinuousClock.Instant
    /// Timeout of one step.
    let step: Duration
    /// Time reserved for the last step, which always runs.
    private let reserve: Duration

    init(_ whole: Duration, step: Duration, reserve: Duration = .zero, from now: ContinuousClock.Instant = .now) {
        end = now + whole - reserve
        self.step = step
        self.reserve = reserve
    }

    /// Deadline of the next step.
    var deadline: ContinuousClock.Instant { min(end, .now + step) }

    /// Deadline of the last step.
    var lastDeadline: ContinuousClock.Instant { max(deadline, min(end + reserve, .now + reserve)) }

    /// Time left for the next step.
    var limit: Duration { max(.zero, min(step, end - .now)) }

    /// Whether too little time is left for another step.
    var isSpent: Bool { !has(.milliseconds(50)) }

    func has(_ time: Duration) -> Bool { end - .now >= time }
}
