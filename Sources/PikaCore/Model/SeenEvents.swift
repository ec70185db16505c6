import Nostr

/// The ids of the events that were processed last; older ones are forgotten.
struct SeenEvents: Sendable {
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
