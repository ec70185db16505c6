import Nostr

/// The latest events that a relay has accepted on a connection and may send back to it: at most ``capacity``.
struct AwaitedEchoes {
    /// Echoes follow within a round trip, so a small number suffices; later ones are delivered like any event.
    static let capacity = 1024

    private var ids: Set<EventID> = []
    /// The ids in the order of their insertion, as a ring.
    private var ring: [EventID] = []
    private var next = 0

    mutating func insert(_ id: EventID) {
        guard ids.insert(id).inserted else { return }
        guard ring.count == Self.capacity else {
            ring.append(id)
            return
        }
        ids.remove(ring[next])
        ring[next] = id
        next = (next + 1) % Self.capacity
    }

    /// Removes an id; returns whether it was there.
    mutating func remove(_ id: EventID) -> Bool { ids.remove(id) != nil }
}
