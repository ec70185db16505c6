public import Nostr

/// A relay as a value: stores events according to NIP-01 and NIP-09, and answers filters.
public struct LabRelay: Sendable {
    /// The relay's answer to an event.
    public enum Answer: Hashable, Sendable {
        /// `OK true`; `isNew` is false if it had the event, or a newer one that replaces it.
        case accepted(isNew: Bool)
        /// `OK false` with a message.
        case refused(String)
    }

    /// The stored events, in the order of arrival.
    public private(set) var events: [Event] = []
    private var ids: Set<EventID> = []
    private var deletions: [Event] = []

    /// Creates a relay without events.
    public init() {}

    /// Receives an event from a client: verifies it, and stores it unless it is ephemeral.
    public mutating func take(_ event: Event) -> Answer {
        do { try event.verify() } catch { return .refused("invalid: \(error.code)") }
        return self.store(event)
    }

    /// Stores an event without verification, even a forged one: relays are not trusted.
    public mutating func store(_ event: Event) -> Answer {
        if event.kind.isEphemeral { return .accepted(isNew: true) }
        if self.ids.contains(event.id) { return .accepted(isNew: false) }
        if self.isDeleted(event) { return .refused("blocked: its author has deleted it") }
        if let address = event.address {
            let held = self.events.first { $0.address == address }
            // NIP-01: the newest is kept; of events of the same time, the one with the lowest id.
            if let held, Self.isBefore(held, event) { return .accepted(isNew: false) }
            if let held { self.remove { $0.id == held.id } }
        }
        self.events.append(event)
        self.ids.insert(event.id)
        if event.kind == .deletion { self.delete(by: event) }
        return .accepted(isNew: true)
    }

    /// Returns the stored events that match one of the filters, newest first; of the same time, the lowest id first.
    public func stored(matching filters: [Filter]) -> [Event] {
        var found: Set<Event> = []
        for filter in filters {
            let matching = self.events.filter(filter.matches).sorted(by: Self.isBefore)
            found.formUnion(matching.prefix(filter.limit ?? matching.count))
        }
        return found.sorted(by: Self.isBefore)
    }

    private static func isBefore(_ left: Event, _ right: Event) -> Bool {
        // Timestamps may have any value, including one that cannot be negated.
        (right.createdAt, left.id) < (left.createdAt, right.id)
    }

    private func isDeleted(_ event: Event) -> Bool {
        self.deletions.contains { request in
            guard let deletion = try? Deletion(request) else { return false }
            return deletion.covers(event, author: request.pubkey, requestedAt: request.createdAt)
        }
    }

    private mutating func delete(by request: Event) {
        self.deletions.append(request)
        self.remove { event in
            guard let deletion = try? Deletion(request) else { return false }
            return deletion.covers(event, author: request.pubkey, requestedAt: request.createdAt)
        }
    }

    private mutating func remove(where isGone: (Event) -> Bool) {
        for event in self.events where isGone(event) { self.ids.remove(event.id) }
        self.events.removeAll(where: isGone)
    }
}
