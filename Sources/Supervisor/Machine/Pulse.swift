/// Whether a worker answers when it is asked for its health, in one life of it.
///
/// Two questions in a row may go unanswered, each for half of the patience: a machine that was suspended wakes up with
/// every time limit over, and the worker must have time to answer then.
struct Pulse: Equatable {
    static let chances = 2

    /// The question that has no answer yet.
    private(set) var open: Int?
    private var asked = 0
    private var missed = 0
    private(set) var isLost = false
    private(set) var hasAnswered = false

    /// The number of the next question.
    mutating func ask() -> Int {
        asked += 1
        open = asked
        return asked
    }

    /// An answer to any question; false if none was open.
    mutating func answered() -> Bool {
        guard open != nil else { return false }
        open = nil
        missed = 0
        hasAnswered = true
        return true
    }

    enum Silence: Equatable {
        case answered
        case askAgain
        case lost
    }

    /// The time for the answer to `question` is over.
    mutating func elapsed(_ question: Int) -> Silence {
        guard open == question, !isLost else { return .answered }
        missed += 1
        isLost = missed >= Self.chances
        return isLost ? .lost : .askAgain
    }
}
