import Synchronization

/// How many clients are served at the same time, with a bound.
final class ClientCount: Sendable {
    private let maximum: Int
    private let count = Mutex(0)

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// False when there are as many as there may be.
    func enter() -> Bool {
        count.withLock { count in
            guard count < maximum else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
