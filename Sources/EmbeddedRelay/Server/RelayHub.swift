import NIOCore
import Nostr
import Synchronization

/// Reference to a connection that can be used from any thread.
struct ClientHandle: Sendable {
    let eventLoop: any EventLoop
    let connection: NIOLoopBound<ClientConnection>
}

/// Work for one connection on its event loop.
enum ConnectionDelivery: Sendable {
    case outcome(EventID, StoreOutcome)
    case live(LiveEvent, Subscriptions.Match)
}

/// All connections of the relay and their subscriptions.
///
/// Recipients are determined under the lock; messages are sent after it is released, once per event loop.
final class RelayHub: Sendable {
    private struct State {
        var nextConnection: UInt64 = 0
        var clients: [UInt64: ClientHandle] = [:]
        var subscriptions = Subscriptions()
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isStopping = false
    }

    private let state = Mutex(State())
    /// A separate lock: every message of a limited address uses it.
    private let addresses: Mutex<AddressUse>

    init(limits: RelayLimits) {
        addresses = Mutex(AddressUse(limits))
    }

    /// Number of current connections, WebSocket or HTTP.
    var connectionCount: Int { state.withLock { $0.channels.count } }
    var subscriptionCount: Int { state.withLock { $0.subscriptions.count } }

    // MARK: Connections

    /// Counts a new connection; returns false at the global or the address's limit, and while the relay is stopping.
    func admit(_ channel: any Channel, of client: ClientAddress, limit: Int, now: UnixTime) -> Bool {
        guard addresses.withLock({ $0.connect(client, now: now) }) else { return false }
        let isAdmitted = state.withLock { state in
            guard !state.isStopping, state.channels.count < limit else { return false }
            state.channels[ObjectIdentifier(channel)] = channel
            return true
        }
        if !isAdmitted { addresses.withLock { $0.disconnect(client) } }
        return isAdmitted
    }

    /// Removes an admitted connection from the counts; called once for each.
    func forget(_ channel: any Channel, of client: ClientAddress) {
        state.withLock { state in
            _ = state.channels.removeValue(forKey: ObjectIdentifier(channel))
        }
        addresses.withLock { $0.disconnect(client) }
    }

    /// Consumes one message of the address's rate; returns false when it is exceeded.
    func consumeMessage(of client: ClientAddress, now: UnixTime) -> Bool {
        addresses.withLock { $0.consumeMessage(client, now: now) }
    }

    /// - Returns: the connection's number, or nil when the relay is stopping.
    func join(_ handle: ClientHandle) -> UInt64? {
        state.withLock { state in
            guard !state.isStopping else { return nil }
            state.nextConnection += 1
            state.clients[state.nextConnection] = handle
            return state.nextConnection
        }
    }

    func leave(_ connection: UInt64, serials: [UInt64]) {
        state.withLock { state in
            state.clients[connection] = nil
            for serial in serials {
                state.subscriptions.remove(SubscriptionKey(connection: connection, serial: serial))
            }
        }
    }

    /// Stops admitting connections.
    ///
    /// - Returns: all current ones.
    func beginStop() -> (clients: [ClientHandle], channels: [any Channel]) {
        state.withLock { state in
            state.isStopping = true
            return (Array(state.clients.values), Array(state.channels.values))
        }
    }

    // MARK: Events

    func subscribe(_ key: SubscriptionKey, name: String, filters: [Filter]) {
        state.withLock { $0.subscriptions.add(key, name: name, filters: filters) }
    }

    func unsubscribe(_ key: SubscriptionKey) {
        state.withLock { $0.subscriptions.remove(key) }
    }

    /// Delivers an ephemeral event to its subscribers.
    func broadcast(_ event: Event) {
        let matches = state.withLock { $0.subscriptions.matches(event) }
        send(Self.live(event, json: event.json(), sequence: nil, to: matches))
    }

    /// Answers publishers and delivers the stored events to subscribers.
    func committed(_ batch: [GroupCommit.Committed]) {
        let matches = state.withLock { state in
            batch.map { entry -> [Subscriptions.Match] in
                guard case .stored = entry.outcome else { return [] }
                return state.subscriptions.matches(entry.submission.event)
            }
        }
        var deliveries: [(UInt64, ConnectionDelivery)] = []
        for ((submission, outcome), matches) in zip(batch, matches) {
            deliveries.append((submission.origin, .outcome(submission.event.id, outcome)))
            guard case .stored(let sequence) = outcome else { continue }
            deliveries += Self.live(submission.event, json: submission.json, sequence: sequence, to: matches)
        }
        send(deliveries)
    }

    private static func live(
        _ event: Event, json: [UInt8], sequence: Int64?, to matches: [Subscriptions.Match]
    ) -> [(UInt64, ConnectionDelivery)] {
        // Subscribers often use the same subscription id, and then share one buffer.
        var events: [String: LiveEvent] = [:]
        return matches.map { match in
            let live =
                events[match.name]
                ?? LiveEvent(sequence: sequence, message: EventFrame(subscription: match.name).message(json))
            events[match.name] = live
            return (match.key.connection, .live(live, match))
        }
    }

    private func send(_ deliveries: [(connection: UInt64, delivery: ConnectionDelivery)]) {
        guard !deliveries.isEmpty else { return }
        let grouped = Dictionary(grouping: deliveries, by: \.connection)
        let handles = state.withLock { state in
            grouped.keys.compactMap { connection in state.clients[connection].map { (connection, $0) } }
        }
        for (_, clients) in Dictionary(grouping: handles, by: { ObjectIdentifier($0.1.eventLoop) }) {
            clients[0].1.eventLoop.execute {
                for (connection, handle) in clients {
                    handle.connection.value.deliver(grouped[connection, default: []].map(\.delivery))
                }
            }
        }
    }
}
