/// How long a probe may still take.
struct ProbeBudget: Sendable {
    /// Of all steps but the last.
    let end: ContinuousClock.Instant
    /// The longest that one step may take.
    let step: Duration
    /// What is kept for the last step, which is taken in any case.
    private let reserve: Duration

    init(_ whole: Duration, step: Duration, reserve: Duration = .zero, from now: ContinuousClock.Instant = .now) {
        end = now + whole - reserve
        self.step = step
        self.reserve = reserve
    }

    /// When the next step must be over.
    var deadline: ContinuousClock.Instant { min(end, .now + step) }

    /// When the last step must be over.
    var lastDeadline: ContinuousClock.Instant { max(deadline, min(end + reserve, .now + reserve)) }

    /// For the next step.
    var limit: Duration { max(.zero, min(step, end - .now)) }

    /// Whether the next step would have no time worth the name.
    var isSpent: Bool { !has(.milliseconds(50)) }

    func has(_ time: Duration) -> Bool { end - .now >= time }
}
