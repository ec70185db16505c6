public import Nostr
import PikaCore
import Synchronization

/// The relays of a lab and the connections to them. Delivery is instant; the test chooses the faults.
public final class LabNetwork: Sendable {
    /// An event published by a member to one relay.
    public struct Publication: Hashable, Sendable {
        /// The name of the member's transport.
        public let sender: String
        /// The relay to which the event was sent.
        public let relay: RelayURL
        /// The published event, unverified.
        public let event: Event
    }

    /// The fate of a publication.
    public enum Verdict: Hashable, Sendable {
        /// The relay decides.
        case deliver
        /// The relay answers `OK false` with this message and stores nothing.
        case refuse(String)
        /// The event is held back from the relay until ``LabNetwork/release()``.
        case hold
        /// The relay stores the event and delivers it; its answer is held back until ``LabNetwork/release()``.
        case holdAnswer
        /// The event is lost, and its sender gets a timeout.
        case lose
        /// The relay stores the event and delivers it; the answer is lost.
        case loseAnswer
    }

    let state: Mutex<NetworkState>
    private let rule = Mutex<@Sendable (Publication) -> Verdict>({ _ in .deliver })

    /// Creates these relays without events or faults; other addresses are unreachable.
    public init(relays: [RelayURL]) {
        var state = NetworkState()
        for url in relays { state.relays[url] = NetworkState.RelayState() }
        self.state = Mutex(state)
    }

    /// Creates a transport to these relays; `name` identifies it in publications.
    package func transport(name: String) -> LabTransport {
        LabTransport(name: name, network: self)
    }

    // MARK: Faults

    /// Sets the rule that decides over every publication from now on.
    public func onPublish(_ rule: @escaping @Sendable (Publication) -> Verdict) {
        self.rule.withLock { $0 = rule }
    }

    /// Delivers all events from now on; held ones stay held.
    public func deliverEverything() {
        self.onPublish { _ in .deliver }
    }

    /// Delivers the held events and answers, in the order of their publication.
    public func release() {
        self.state.withLock { $0.release() }
    }

    /// Delivers the held events and answers, in an order that `generator` chooses.
    public func release(shuffledBy generator: inout some RandomNumberGenerator) {
        self.state.withLock { state in
            state.held.shuffle(using: &generator)
            state.release()
        }
    }

    /// Cuts one member off from one relay: the connection breaks and is not restored until ``heal()``.
    public func cutOff(_ member: String, from relay: RelayURL) {
        self.state.withLock { $0.cutOff(member, from: relay) }
    }

    /// Stalls a connection: the member receives nothing from the relay, though it seems connected, until ``heal()``.
    public func stall(_ member: String, at relay: RelayURL) {
        self.state.withLock { _ = $0.stalled.insert(NetworkState.Route(member: member, relay: relay)) }
    }

    /// Ends all effects of ``cutOff(_:from:)`` and ``stall(_:at:)``.
    public func heal() {
        self.state.withLock { $0.heal() }
    }

    /// The number of held publications.
    public var heldCount: Int { self.state.withLock { $0.held.count } }

    /// Takes a relay down: connections break, held publications are lost, stored events stay.
    public func takeDown(_ relay: RelayURL, reason: String = "the relay is down") {
        self.state.withLock { $0.takeDown(relay, reason: reason) }
    }

    /// Brings a relay back: members reconnect and resume their subscriptions.
    public func bringUp(_ relay: RelayURL) {
        self.state.withLock { $0.bringUp(relay) }
    }

    /// Brings a relay back while members wait before their next attempt: they reconnect only if they retry at once.
    public func bringUpUnnoticed(_ relay: RelayURL) {
        self.state.withLock { $0.bringUpUnnoticed(relay) }
    }

    /// Makes relays send every event this many times; initially once.
    public func setRepeats(_ count: Int) {
        self.state.withLock { $0.repeats = max(1, count) }
    }

    // MARK: A relay's side

    /// Returns a relay's stored events, in the order of arrival.
    public func events(at relay: RelayURL) -> [Event] {
        self.state.withLock { $0.relays[relay]?.relay.events ?? [] }
    }

    /// All publications of the members' transports so far, with their verdicts.
    public var publications: [(publication: Publication, verdict: Verdict)] {
        self.state.withLock { $0.publications }
    }

    /// Stores an event at a relay as if a stranger had published it, without verification: relays are not trusted.
    public func inject(_ event: Event, at relay: RelayURL) {
        self.state.withLock { state in
            guard case .accepted(true)? = state.relays[relay]?.relay.store(event) else { return }
            state.deliver(event, from: relay)
        }
    }

    func publish(_ event: Event, to relay: RelayURL, from link: Int, _ answer: @escaping NetworkState.Answer) {
        let sender = self.state.withLock { $0.links[link]?.name }
        guard let sender else { return answer(.unreachable("the transport was shut down")) }
        let publication = Publication(sender: sender, relay: relay, event: event)
        let verdict = self.rule.withLock { $0 }(publication)
        self.state.withLock { $0.publish(publication, verdict, answer) }
    }
}
