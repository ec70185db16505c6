package import Nostr
package import PikaCore
import Synchronization

/// Manual delivery: a test holds publications back, answers their senders, and hands the events to single members.
extension LabNetwork {
    /// The held publications that no relay has, oldest first.
    package var heldPublications: [Publication] {
        self.state.withLock { $0.held.filter { $0.outcome == nil }.map(\.publication) }
    }

    /// Answers the sender of a held event on behalf of every relay that it was sent to. No relay receives the event.
    package func answerHeld(_ id: EventID, _ outcome: PublishReport.Outcome) {
        self.state.withLock { $0.answerHeld(id, outcome) }
    }

    /// Hands an event to one member through its matching subscriptions at a relay. The relay does not store it.
    package func hand(_ event: Event, to member: String, at relay: RelayURL) {
        self.state.withLock { $0.hand(event, to: member, at: relay) }
    }

    /// Records the arrivals of events of a kind from now on.
    package func recordArrivals(of kind: Kind, clock: any CoreClock) {
        self.state.withLock { $0.arrivals = LabArrivals(of: kind, clock: clock) }
    }

    /// The recorded arrivals; nil before ``recordArrivals(of:clock:)``.
    package var arrivals: LabArrivals? { self.state.withLock { $0.arrivals } }
}

extension NetworkState {
    fileprivate mutating func answerHeld(_ id: EventID, _ outcome: PublishReport.Outcome) {
        let answered = self.held.filter { $0.outcome == nil && $0.publication.event.id == id }
        self.held.removeAll { $0.outcome == nil && $0.publication.event.id == id }
        for one in answered { one.answer(outcome) }
    }

    fileprivate mutating func hand(_ event: Event, to member: String, at relay: RelayURL) {
        for number in self.orderedLinks {
            guard let link = self.links[number], link.name == member, link.relays.contains(relay),
                self.downReason(relay, for: member) == nil
            else { continue }
            for subscription in link.subscriptions
            where subscription.relays?.contains(relay) ?? true
                && subscription.filters.contains(where: { $0.matches(event) })
            {
                self.hand(event, from: relay, subscription.id, to: number)
            }
        }
    }
}
