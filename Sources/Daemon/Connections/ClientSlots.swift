import Synchronization

/// Limit on the number of clients served at the same time.
final class ClientSlots: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) {
        self.free = Mutex(count)
    }

    func acquire() -> Bool {
        self.free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func release() { self.free.withLock { $0 += 1 } }
}
