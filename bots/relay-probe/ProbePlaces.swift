import Synchronization

/// How many probes others may have at work at once.
final class ProbePlaces: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) { free = Mutex(count) }

    /// Whether there was one.
    func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func giveBack() { free.withLock { $0 += 1 } }
}
