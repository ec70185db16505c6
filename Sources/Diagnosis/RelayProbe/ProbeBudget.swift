/// How long a probe may still take.
struct ProbeBudget: Sendable {
    let end: ContinuousClock.Instant
    /// The longest that one step may take.
    let step: Duration

    init(_ whole: Duration, step: Duration) {
        end = .now + whole
        self.step = step
    }

    /// For the next step.
    var limit: Duration { max(.zero, min(step, end - .now)) }

    /// Whether the next step would have no time worth the name.
    var isSpent: Bool { !has(.milliseconds(50)) }

    func has(_ time: Duration) -> Bool { end - .now >= time }
}
