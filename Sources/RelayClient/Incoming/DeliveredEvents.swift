import Nostr
import Synchronization

/// Which events came out for which subscription, so that each comes out once, whichever relay brings it.
final class DeliveredEvents: Sendable {
    private let capacity: Int
    private let seen = Mutex<[String: RecentSet<EventID>]>([:])

    /// - Parameter capacity: Events to remember for each subscription.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// A new or changed subscription starts with an empty memory.
    func begin(_ subscription: String) {
        seen.withLock { $0[subscription] = RecentSet(capacity: capacity) }
    }

    func end(_ subscription: String) {
        _ = seen.withLock { $0.removeValue(forKey: subscription) }
    }

    /// False for an event that came out before, and for a subscription that has ended.
    func isFirst(_ id: EventID, for subscription: String) -> Bool {
        seen.withLock { $0[subscription]?.insert(id) ?? false }
    }
}
