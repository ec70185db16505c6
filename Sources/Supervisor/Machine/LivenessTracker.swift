/// Health checks of one run of a worker.
///
/// A worker is lost after two consecutive unanswered checks, each with a deadline of half the patience. One is not
/// enough: on a machine that resumes from suspension every deadline has passed, and the worker must get time to answer.
struct LivenessTracker: Equatable {
    static let chances = 2

    /// The health check in flight.
    private(set) var open: Int?
    private var asked = 0
    private var missed = 0
    private(set) var isLost = false
    private(set) var hasAnswered = false

    /// Starts a health check; returns its number.
    mutating func ask() -> Int {
        asked += 1
        open = asked
        return asked
    }

    /// Notes an answer to any check; returns false if none was in flight.
    mutating func answered() -> Bool {
        guard open != nil else { return false }
        open = nil
        missed = 0
        hasAnswered = true
        return true
    }

    enum DeadlineOutcome: Equatable {
        case answered
        case askAgain
        case lost
    }

    /// Handles the deadline of a check.
    mutating func elapsed(_ question: Int) -> DeadlineOutcome {
        guard open == question, !isLost else { return .answered }
        missed += 1
        isLost = missed >= Self.chances
        return isLost ? .lost : .askAgain
    }
}
