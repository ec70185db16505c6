import Nostr
import Synchronization

/// Events that are waited for; ``remove(_:)`` tells when the last has come. Never so when there were none.
final class Countdown: Sendable {
    private let missing: Mutex<Set<EventID>>

    init(_ missing: Set<EventID>) { self.missing = Mutex(missing) }

    func remove(_ id: EventID) -> Bool {
        missing.withLock { missing in missing.remove(id) != nil && missing.isEmpty }
    }
}
