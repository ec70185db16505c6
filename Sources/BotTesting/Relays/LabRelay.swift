public import Nostr

/// A relay as a value: stores events as NIP-01 and NIP-09 say, and answers filters.
public struct LabRelay: Sendable {
    public enum Answer: Hashable, Sendable {
        /// `OK true`; false if it had the event, or a newer one in its place.
        case accepted(isNew: Bool)
        /// `OK false` with a message.
        case refused(String)
    }

    /// What is stored, in the order of arrival.
    public private(set) var events: [Event] = []
    private var ids: Set<EventID> = []
    private var deletions: [Event] = []

    public init() {}

    /// Takes an event of a client: verifies it and stores it unless it is ephemeral.
    public mutating func take(_ event: Event) -> Answer {
        do { try event.verify() } catch { return .refused("invalid: \(error.code)") }
        return self.store(event)
    }

    /// Stores an event as it is, also a forged one: relays are not to be trusted.
    public mutating func store(_ event: Event) -> Answer {
        if event.kind.isEphemeral { return .accepted(isNew: true) }
        if self.ids.contains(event.id) { return .accepted(isNew: false) }
        if self.isDeleted(event) { return .refused("blocked: its author has deleted it") }
        if let address = event.address {
            let held = self.events.first { $0.address == address }
            // NIP-01: the newest stays, of equally old ones the lowest id.
            if let held, Self.isBefore(held, event) { return .accepted(isNew: false) }
            if let held { self.remove { $0.id == held.id } }
        }
        self.events.append(event)
        self.ids.insert(event.id)
        if event.kind == .deletion { self.delete(by: event) }
        return .accepted(isNew: true)
    }

    /// The stored events that match one of the filters, newest first, of equally old ones the lowest id first.
    public func stored(matching filters: [Filter]) -> [Event] {
        var found: Set<Event> = []
        for filter in filters {
            let matching = self.events.filter(filter.matches).sorted(by: Self.isBefore)
            found.formUnion(matching.prefix(filter.limit ?? matching.count))
        }
        return found.sorted(by: Self.isBefore)
    }

    private static func isBefore(_ left: Event, _ right: Event) -> Bool {
        // Times may be anything, also what cannot be negated.
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
