public import Nostr
import PikaCore
import Synchronization

/// The fault rates of a relay, in percent of the cases. The transport still verifies events.
public struct LabRelayFaults: Hashable, Sendable {
    /// Publications answered with `OK true` and dropped.
    public var feigned = 0
    /// Live events not delivered to a subscription.
    public var dropped = 0
    /// Events sent twice.
    public var repeated = 0
    /// Requests for stored events that get no EOSE, so that the transport times out.
    public var endless = 0
    /// Requests for stored events answered with only some of them, in any order.
    public var partial = 0
    /// Subscriptions closed at once; members subscribe again after the next reconnect.
    public var closed = 0

    /// Creates fault rates in percent, by default none.
    public init(
        feigned: Int = 0, dropped: Int = 0, repeated: Int = 0, endless: Int = 0, partial: Int = 0, closed: Int = 0
    ) {
        self.feigned = feigned
        self.dropped = dropped
        self.repeated = repeated
        self.endless = endless
        self.partial = partial
        self.closed = closed
    }

    /// No faults.
    public static let honest = LabRelayFaults()
    /// A relay that feigns acceptance, and drops, repeats and withholds events.
    public static let hostile = LabRelayFaults(
        feigned: 30, dropped: 40, repeated: 20, endless: 30, partial: 30, closed: 10)

    /// A relay's conduct, with the generator that decides when its faults occur.
    struct Dice: Sendable {
        let faults: LabRelayFaults
        var generator: SeededGenerator

        mutating func decide(_ fault: KeyPath<LabRelayFaults, Int>) -> Bool {
            Int.random(in: 0..<100, using: &self.generator) < self.faults[keyPath: fault]
        }
    }
}

/// The events and requests of one member's transports so far.
public struct LabTraffic: Hashable, Sendable {
    /// Events of subscriptions and of answers to requests, including repeats.
    public var events = 0
    /// Requests for stored events, counted per relay.
    public var requests = 0
    /// Established connections to relays, including reconnects.
    public var connections = 0

    /// Creates counts, by default zero.
    public init(events: Int = 0, requests: Int = 0, connections: Int = 0) {
        self.events = events
        self.requests = requests
        self.connections = connections
    }
}

extension LabNetwork {
    /// Sets a relay's conduct from now on; the same seed makes the same decisions.
    public func setRelayFaults(_ faults: LabRelayFaults, of relay: RelayURL, seed: UInt64) {
        let generator = SeededGenerator(seed: seed, stream: "conduct of \(relay)")
        self.state.withLock {
            $0.dice[relay] = faults == .honest ? nil : LabRelayFaults.Dice(faults: faults, generator: generator)
        }
    }

    /// Makes a relay send an event, which it need not have stored, to every matching subscription.
    public func push(_ event: Event, from relay: RelayURL) {
        self.state.withLock { $0.deliver(event, from: relay) }
    }

    /// Returns the traffic of a member's transports so far, including those before a crash.
    public func traffic(of member: String) -> LabTraffic {
        self.state.withLock { $0.traffic[member] ?? LabTraffic() }
    }
}

extension NetworkState {
    mutating func occurs(_ fault: KeyPath<LabRelayFaults, Int>, at relay: RelayURL) -> Bool {
        self.dice[relay]?.decide(fault) ?? false
    }

    /// Returns the answer of a relay to a member's request for stored events.
    mutating func answer(_ filters: [Filter], to member: String, by relay: RelayURL) -> FetchOutcome {
        self.traffic[member, default: LabTraffic()].requests += 1
        if let reason = self.downReason(relay, for: member) { return .failed(reason) }
        if self.occurs(\.endless, at: relay) { return .failed("no EOSE in time") }
        var events = self.relays[relay]?.relay.stored(matching: filters) ?? []
        if self.occurs(\.partial, at: relay), var dice = self.dice[relay] {
            events.shuffle(using: &dice.generator)
            events.removeLast(Int.random(in: 0...events.count, using: &dice.generator))
            self.dice[relay] = dice
        }
        events.removeAll { (try? $0.verify()) == nil }
        self.traffic[member, default: LabTraffic()].events += events.count
        return .events(events)
    }
}
