import Nostr
import Synchronization

/// Set of awaited events; ``remove(_:)`` returns whether the last one has arrived, and never does for an empty set.
final class Countdown: Sendable {
    private let missing: Mutex<Set<EventID>>

    init(_ missing: Set<EventID>) { self.missing = Mutex(missing) }

    func remove(_ id: EventID) -> Bool {
        missing.withLock { missing in missing.remove(id) != nil && missing.isEmpty }
    }
}
