public import Nostr
import PikaCore
import Synchronization

/// The conduct of a relay: in how many of a hundred cases each fault occurs. The transport still verifies events.
public struct LabRelayConduct: Hashable, Sendable {
    /// Publications that are answered with `OK true` and lost.
    public var feigned = 0
    /// Live events that are not passed on to a subscription.
    public var dropped = 0
    /// Events that are handed out twice.
    public var repeated = 0
    /// Requests for stored events that get no end mark, so that the transport gives up.
    public var endless = 0
    /// Requests for stored events that are answered with some of them, in any order.
    public var partial = 0
    /// Subscriptions that are closed at once; members ask again after the next reconnect.
    public var closed = 0

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

    public static let honest = LabRelayConduct()
    public static let hostile = LabRelayConduct(
        feigned: 30, dropped: 40, repeated: 20, endless: 30, partial: 30, closed: 10)

    /// A conduct with the generator that decides when its faults occur.
    struct Dice: Sendable {
        let conduct: LabRelayConduct
        var generator: SeededGenerator

        mutating func decide(_ fault: KeyPath<LabRelayConduct, Int>) -> Bool {
            Int.random(in: 0..<100, using: &self.generator) < self.conduct[keyPath: fault]
        }
    }
}

/// What one member's transport has handed over and asked for so far.
public struct LabTraffic: Hashable, Sendable {
    /// Events of subscriptions and of answers to requests, repeats included.
    public var events = 0
    /// Requests for stored events, one for each relay that was asked.
    public var requests = 0
    public var connections = 0

    public init(events: Int = 0, requests: Int = 0, connections: Int = 0) {
        self.events = events
        self.requests = requests
        self.connections = connections
    }
}

extension LabNetwork {
    /// Gives a relay another conduct from now on; the same seed decides the same.
    public func setConduct(_ conduct: LabRelayConduct, of relay: RelayURL, seed: UInt64) {
        let generator = SeededGenerator(seed: seed, stream: "conduct of \(relay)")
        self.state.withLock {
            $0.dice[relay] = conduct == .honest ? nil : LabRelayConduct.Dice(conduct: conduct, generator: generator)
        }
    }

    /// Lets a relay send an event, which it need not hold, for every subscription that asks for such events.
    public func push(_ event: Event, from relay: RelayURL) {
        self.state.withLock { $0.deliver(event, from: relay) }
    }

    /// What a member's transports have handed over so far, also before a crash.
    public func traffic(of member: String) -> LabTraffic {
        self.state.withLock { $0.traffic[member] ?? LabTraffic() }
    }
}

extension NetworkState {
    mutating func occurs(_ fault: KeyPath<LabRelayConduct, Int>, at relay: RelayURL) -> Bool {
        self.dice[relay]?.decide(fault) ?? false
    }

    /// What a member's transport gets for a request for stored events.
    mutating func answer(_ filters: [Filter], to member: String, by relay: RelayURL) -> FetchOutcome {
        self.traffic[member, default: LabTraffic()].requests += 1
        if let reason = self.downReason(relay, for: member) { return .failed(reason) }
        if self.occurs(\.endless, at: relay) { return .failed("no end of the stored events in time") }
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
