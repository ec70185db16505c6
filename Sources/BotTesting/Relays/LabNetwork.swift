public import Nostr
import PikaCore
import Synchronization

/// The relays of a lab and the wires to them. Nothing takes time; what goes wrong is said by the test.
public final class LabNetwork: Sendable {
    /// An event on its way from a member to one relay.
    public struct Publication: Hashable, Sendable {
        /// Name of the member's transport.
        public let sender: String
        public let relay: RelayURL
        public let event: Event
    }

    /// What becomes of a publication.
    public enum Verdict: Hashable, Sendable {
        /// The relay decides.
        case deliver
        /// The relay answers `OK false` with this message and stores nothing.
        case refuse(String)
        /// The event waits outside the relay until ``LabNetwork/release()``.
        case hold
        /// The relay stores the event and passes it on; its answer waits until ``LabNetwork/release()``.
        case holdAnswer
        /// The event gets lost, and its sender hears nothing but that.
        case lose
        /// The relay stores the event and passes it on; the answer gets lost.
        case loseAnswer
    }

    let state: Mutex<NetworkState>
    private let rule = Mutex<@Sendable (Publication) -> Verdict>({ _ in .deliver })

    public init(relays: [RelayURL]) {
        var state = NetworkState()
        for url in relays { state.relays[url] = NetworkState.Station() }
        self.state = Mutex(state)
    }

    /// A new transport to these relays; `name` stands in publications.
    public func transport(name: String) -> LabTransport {
        LabTransport(name: name, network: self)
    }

    // MARK: Faults

    /// Decides over every publication from now on.
    public func onPublish(_ rule: @escaping @Sendable (Publication) -> Verdict) {
        self.rule.withLock { $0 = rule }
    }

    /// Lets all events pass again; what is held stays held.
    public func deliverEverything() {
        self.onPublish { _ in .deliver }
    }

    /// Passes on what was held, in the order of its publication.
    public func release() {
        self.state.withLock { $0.release() }
    }

    /// Passes on what was held, in an order that `generator` chooses.
    public func release(shuffledBy generator: inout some RandomNumberGenerator) {
        self.state.withLock { state in
            state.held.shuffle(using: &generator)
            state.release()
        }
    }

    /// Cuts one member off from one relay: the connection breaks, and none comes until ``heal()``.
    public func cutOff(_ member: String, from relay: RelayURL) {
        self.state.withLock { $0.cutOff(member, from: relay) }
    }

    /// One member hears nothing more from one relay, though the connection seems well, until ``heal()``.
    public func stall(_ member: String, at relay: RelayURL) {
        self.state.withLock { _ = $0.stalled.insert(NetworkState.Way(member: member, relay: relay)) }
    }

    /// Ends all that ``cutOff(_:from:)`` and ``stall(_:at:)`` did.
    public func heal() {
        self.state.withLock { $0.heal() }
    }

    /// How many publications are held.
    public var heldCount: Int { self.state.withLock { $0.held.count } }

    /// Takes a relay off the net: connections break, what is held there gets lost, what is stored stays.
    public func takeDown(_ relay: RelayURL, reason: String = "the relay is down") {
        self.state.withLock { $0.takeDown(relay, reason: reason) }
    }

    /// Brings a relay back: members connect and subscribe again from where they were.
    public func bringUp(_ relay: RelayURL) {
        self.state.withLock { $0.bringUp(relay) }
    }

    /// Brings a relay back while members wait before their next attempt: each finds it when it tries at once.
    public func bringUpUnnoticed(_ relay: RelayURL) {
        self.state.withLock { $0.bringUpUnnoticed(relay) }
    }

    /// Lets relays send every event so many times; 1 at first.
    public func setRepeats(_ count: Int) {
        self.state.withLock { $0.repeats = max(1, count) }
    }

    // MARK: A relay's side

    /// What a relay has stored, in the order of arrival.
    public func events(at relay: RelayURL) -> [Event] {
        self.state.withLock { $0.relays[relay]?.relay.events ?? [] }
    }

    /// All publications by the members' transports so far and what became of them.
    public var publications: [(publication: Publication, verdict: Verdict)] {
        self.state.withLock { $0.publications }
    }

    /// Puts an event into a relay as if a stranger had published it, unverified: relays are not to be trusted.
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
