import Synchronization

/// A manually advanced clock of Unix seconds.
final class ManualClock: Sendable {
    private let time: Mutex<Int64>

    init(now: Int64) {
        time = Mutex(now)
    }

    var now: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
