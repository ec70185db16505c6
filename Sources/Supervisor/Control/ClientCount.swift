import Synchronization

/// Bounded number of clients served at the same time.
final class ClientCount: Sendable {
    private let maximum: Int
    private let count = Mutex(0)

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Admits a client; returns false at the limit.
    func enter() -> Bool {
        count.withLock { count in
            guard count < maximum else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
