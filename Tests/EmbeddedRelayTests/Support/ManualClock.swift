import Nostr
import Synchronization

/// A manually advanced clock.
final class ManualClock: Sendable {
    private let time: Mutex<UnixTime>

    init(now: UnixTime) {
        time = Mutex(now)
    }

    var now: UnixTime {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
