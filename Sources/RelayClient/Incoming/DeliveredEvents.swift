import Nostr
import Synchronization

/// Deduplicates events per subscription across relays.
final class DeliveredEvents: Sendable {
    private let capacity: Int
    private let seen = Mutex<[String: RecentSet<EventID>]>([:])

    /// - Parameter capacity: The number of events to remember for each subscription.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Clears the memory of a new or changed subscription.
    func begin(_ subscription: String) {
        seen.withLock { $0[subscription] = RecentSet(capacity: capacity) }
    }

    func end(_ subscription: String) {
        _ = seen.withLock { $0.removeValue(forKey: subscription) }
    }

    /// Returns whether this is the event's first delivery; false if the subscription has ended.
    func isFirst(_ id: EventID, for subscription: String) -> Bool {
        seen.withLock { $0[subscription]?.insert(id) ?? false }
    }
}
