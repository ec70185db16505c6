package import Nostr
import PikaCore

/// The order in which events have reached each member, with the times of the lab's clock.
package struct LabArrivals: Sendable {
    /// The first arrival of an event at a member.
    package struct Arrival: Sendable, Hashable {
        /// The event, verified.
        package let event: Event
        /// The time, Unix milliseconds.
        package let milliseconds: Int64
    }

    private let clock: any CoreClock
    private let kind: Kind
    private var arrivals: [String: [Arrival]] = [:]
    private var known: [String: Set<EventID>] = [:]

    init(of kind: Kind, clock: any CoreClock) {
        self.kind = kind
        self.clock = clock
    }

    mutating func note(_ event: Event, at member: String) {
        guard event.kind == self.kind, self.known[member, default: []].insert(event.id).inserted else { return }
        self.arrivals[member, default: []].append(Arrival(event: event, milliseconds: self.clock.nowMilliseconds))
    }

    /// Returns a member's arrivals in order.
    package func at(_ member: String) -> [Arrival] { self.arrivals[member] ?? [] }
}
