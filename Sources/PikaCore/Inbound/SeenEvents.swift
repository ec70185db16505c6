import MLS
import Nostr

/// The ids of the most recently processed events; older ones are forgotten.
///
/// Refused events have a separate ring. Strangers can send any number of them, and must not evict the ids of genuine
/// events: a relay could then replay those.
struct SeenEvents: Sendable {
    static let standardCapacity = 50_000
    static let standardRefusedCapacity = 20_000

    private var genuine: RecentIDs
    private var refused: RecentIDs

    init(
        newestFirst genuine: [EventID], refusedNewestFirst refused: [EventID] = [],
        capacity: Int = Self.standardCapacity, refusedCapacity: Int = Self.standardRefusedCapacity
    ) {
        self.genuine = RecentIDs(capacity: capacity, newestFirst: genuine)
        self.refused = RecentIDs(capacity: refusedCapacity, newestFirst: refused)
    }

    /// Returns the key of a message: the same inner event in two groups is two messages.
    static func key(ofMessage id: EventID, in groupID: GroupID) -> EventID {
        self.key(SHA256Derivation.digest(groupID.bytes + id.bytes))
    }

    /// Returns a digest as a seen id.
    static func key(_ digest: [UInt8]) -> EventID {
        do { return try EventID(bytes: digest) } catch { preconditionFailure("an event id is a SHA-256 digest") }
    }

    func contains(_ id: EventID) -> Bool { self.genuine.contains(id) || self.refused.contains(id) }

    /// Records an event that was authenticated and applied.
    mutating func insert(_ id: EventID) { self.genuine.insert(id) }

    /// Records an event that was refused, or that may still turn out to be junk.
    mutating func insertRefused(_ id: EventID) { self.refused.insert(id) }

    /// Records an event that was authenticated and applied, durably.
    mutating func insert(_ id: EventID, _ step: inout CoreStep) {
        self.insert(id)
        step.changes.append(.putSeen(id, at: step.now))
    }

    /// Records an event that was refused, or that may still turn out to be junk, durably.
    mutating func insertRefused(_ id: EventID, _ step: inout CoreStep) {
        self.insertRefused(id)
        step.changes.append(.putRefused(id, at: step.now))
    }
}

/// A bounded set that drops its oldest ids.
private struct RecentIDs: Sendable {
    private let capacity: Int
    private var ids: Set<EventID> = []
    /// A ring of the same ids, oldest at `oldest`.
    private var ring: [EventID] = []
    private var oldest = 0

    init(capacity: Int, newestFirst ids: [EventID]) {
        self.capacity = capacity
        for id in ids.prefix(capacity).reversed() { self.insert(id) }
    }

    func contains(_ id: EventID) -> Bool { self.ids.contains(id) }

    mutating func insert(_ id: EventID) {
        guard self.ids.insert(id).inserted else { return }
        if self.ring.count < self.capacity {
            self.ring.append(id)
        } else {
            self.ids.remove(self.ring[self.oldest])
            self.ring[self.oldest] = id
            self.oldest = (self.oldest + 1) % self.capacity
        }
    }
}
