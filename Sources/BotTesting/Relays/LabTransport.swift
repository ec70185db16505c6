package import Nostr
package import PikaCore
import Synchronization

/// One core's connections in a ``LabNetwork``: every operation is complete when its call returns.
package final class LabTransport: RelayTransport {
    private let network: LabNetwork
    private let link: Int
    /// Updates from the relays, in order; one consumer. Ends after ``cut()`` and ``shutdown()``.
    package let updates: AsyncStream<RelayUpdate>

    init(name: String, network: LabNetwork) {
        let (stream, continuation) = AsyncStream<RelayUpdate>.makeStream()
        self.updates = stream
        self.network = network
        self.link = network.state.withLock { $0.addLink(NetworkState.Link(name: name, updates: continuation)) }
    }

    /// Disconnects the core at once, as the end of its process does.
    package func cut() {
        self.network.state.withLock { $0.cut(self.link) }
    }

    /// Connects to these relays and disconnects from all others, before it returns.
    package func setRelays(_ relays: [RelayURL]) async {
        self.network.state.withLock { $0.setRelays(relays, of: self.link) }
    }

    /// Retries all relays that are down, cut off, or waiting for the next attempt.
    package func reconnect() async {
        self.network.state.withLock { $0.reconnect(self.link) }
    }

    /// Opens or replaces a subscription; the relays' stored events are in ``updates`` when this returns.
    package func subscribe(_ subscription: RelaySubscription) async {
        self.network.state.withLock { $0.subscribe(subscription, of: self.link) }
    }

    /// Ends a subscription.
    package func unsubscribe(_ id: String) async {
        self.network.state.withLock { $0.unsubscribe(id, of: self.link) }
    }

    /// Publishes to each relay as the network's rule says. The stream ends after one outcome per relay; held outcomes
    /// follow ``LabNetwork/release()``.
    package func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport> {
        let (stream, continuation) = AsyncStream<PublishReport>.makeStream()
        let reports = ReportCounter(expected: relays.count, continuation)
        for relay in relays {
            self.network.publish(event, to: relay, from: self.link) { outcome in
                reports.report(PublishReport(relay: relay, outcome: outcome))
            }
        }
        return stream
    }

    /// Returns each relay's answer at once, without waiting for `timeout`; all of them fail after ``shutdown()``.
    package func fetch(
        _ filters: [Filter], from relays: [RelayURL], timeout: Duration
    ) async -> [RelayURL: FetchOutcome] {
        self.network.state.withLock { state in
            var outcomes: [RelayURL: FetchOutcome] = [:]
            for relay in relays {
                guard let name = state.links[self.link]?.name else {
                    outcomes[relay] = .failed("the transport was shut down")
                    continue
                }
                outcomes[relay] = state.answer(filters, to: name, by: relay)
            }
            return outcomes
        }
    }

    /// Disconnects as ``cut()`` does.
    package func shutdown() async {
        self.cut()
    }
}
