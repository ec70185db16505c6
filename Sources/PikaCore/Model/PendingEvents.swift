import Nostr

/// Group events that cannot be opened yet, each once under its routing id, for all groups that claim it.
struct PendingEvents: Sendable {
    /// By routing id.
    private(set) var all: [Bytes32: [WaitingEvent]] = [:]
    private var routes: [EventID: Bytes32] = [:]

    func contains(_ id: EventID) -> Bool { self.routes[id] != nil }

    func count(under id: Bytes32) -> Int { self.all[id]?.count ?? 0 }

    /// The event that has waited longest under an id.
    func oldest(under id: Bytes32) -> EventID? { self.all[id]?.first?.event.id }

    /// Events under these ids, in the order in which they were sent.
    func events(under ids: [Bytes32]) -> [Event] {
        ids.flatMap { self.all[$0] ?? [] }.map(\.event).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    func isEmpty(under ids: [Bytes32]) -> Bool { ids.allSatisfy { self.all[$0] == nil } }

    /// An event that waits already stays as it is.
    mutating func insert(_ event: WaitingEvent, under id: Bytes32) {
        guard self.routes[event.event.id] == nil else { return }
        self.routes[event.event.id] = id
        self.all[id, default: []].append(event)
    }

    /// Returns false if the event does not wait.
    mutating func remove(_ event: EventID) -> Bool {
        guard let id = self.routes.removeValue(forKey: event) else { return false }
        self.all[id]?.removeAll { $0.event.id == event }
        if self.all[id]?.isEmpty == true { self.all[id] = nil }
        return true
    }

    /// Removes all events under an id.
    mutating func removeAll(under id: Bytes32) -> [EventID] {
        let events = (self.all.removeValue(forKey: id) ?? []).map(\.event.id)
        for event in events { self.routes[event] = nil }
        return events
    }
}
