import LiveTesting
import Nostr
import PikaCore

@testable import RelayClient

/// A state machine and its clock; the test plays both the pool and the relay.
struct Machine {
    typealias Action = RelayConnection.StateMachine.Action

    static let relay = RelayURL.known("ws://relay.test")

    var machine: RelayConnection.StateMachine
    var now = Moment(elapsed: .zero, unixTime: 1_000_000)
    private var generator = SplitMix64(seed: 7)

    init(canLogIn: Bool = false, _ configure: (inout TransportConfiguration) -> Void = { _ in }) {
        var configuration = TransportConfiguration()
        configuration.smallestCap = 3
        configure(&configuration)
        machine = RelayConnection.StateMachine(
            relay: Machine.relay, configuration: configuration, canLogIn: canLogIn)
    }

    /// A machine connected to a relay of the set, in session 1.
    static func connected(
        canLogIn: Bool = false, _ configure: (inout TransportConfiguration) -> Void = { _ in }
    ) -> Machine {
        var machine = Machine(canLogIn: canLogIn, configure)
        _ = machine.machine.setStanding(true)
        _ = machine.machine.connected(session: 1, now: machine.now)
        return machine
    }

    mutating func pass(_ duration: Duration) {
        now.elapsed += duration
        now.unixTime += duration.components.seconds
    }

    mutating func connect() -> [Action] {
        machine.connected(session: machine.session, now: now)
    }

    mutating func lose(_ reason: Disconnection.Reason = .closed, session: Int? = nil) -> [Action] {
        machine.disconnected(
            session: session ?? machine.session, Disconnection(reason, "gone"), now: now, using: &generator)
    }

    /// Loses the connection and reconnects.
    mutating func reconnect() -> [Action] {
        _ = lose()
        _ = machine.elapsed(.retry(session: machine.session), now: now)
        return connect()
    }

    mutating func receive(_ message: RelayMessage, bytes: Int = 100) -> [Action] {
        machine.received(message, bytes: bytes, session: machine.session, now: now)
    }

    mutating func receive(_ event: Event, on wireID: String) -> [Action] {
        receive(.event(subscription: wireID, event))
    }

    mutating func subscribe(_ id: String, _ filters: Filter..., overlap: Int64 = 0) -> [Action] {
        machine.subscribe(RelaySubscription(id: id, filters: filters, overlap: overlap), now: now)
    }

    mutating func publish(_ number: Int, _ event: Event, timeout: Duration = .seconds(10)) -> [Action] {
        machine.publish(number, event, deadline: now.elapsed + timeout, now: now)
    }

    mutating func fetch(_ number: Int, _ filters: Filter..., timeout: Duration = .seconds(5)) -> [Action] {
        machine.fetch(number, filters, deadline: now.elapsed + timeout, now: now)
    }

    static func state(_ state: RelayConnectionState) -> Action { .emit(.state(relay: relay, state)) }
    static func request(_ wireID: String, _ filters: Filter...) -> Action {
        .send(.request(subscription: wireID, filters: filters))
    }
    static func close(_ wireID: String) -> Action { .send(.close(subscription: wireID)) }
    static func event(_ id: String, _ event: Event) -> Action {
        .emit(.event(relay: relay, subscription: id, event))
    }
    static func end(_ id: String) -> Action { .emit(.endOfStoredEvents(relay: relay, subscription: id)) }
    static let unrequested = Action.emit(.refused(relay: relay, reason: "unrequested"))
}
