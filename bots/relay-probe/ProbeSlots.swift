import Synchronization

/// A limit on concurrent requested probes.
final class ProbeSlots: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) { free = Mutex(count) }

    /// Acquires a slot and returns true; returns false if none is free.
    func acquire() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func release() { free.withLock { $0 += 1 } }
}
