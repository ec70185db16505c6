import Nostr
import PikaCore

/// A transport that reports every gift wrap sent; the pool's observer reports what arrives (``AgentEvent/init(_:)``).
struct ObservedTransport<Base: RelayTransport>: RelayTransport {
    let base: Base
    let report: @Sendable (AgentEvent) -> Void

    init(_ base: Base, report: @escaping @Sendable (AgentEvent) -> Void) {
        self.base = base
        self.report = report
    }

    var updates: AsyncStream<RelayUpdate> { base.updates }

    func offerUpdates(to receiver: @escaping @Sendable (RelayUpdate) -> Bool) { base.offerUpdates(to: receiver) }

    func setConfiguredRelays(_ relays: [RelayURL]) async { await base.setConfiguredRelays(relays) }
    func setRelays(_ relays: [RelayURL]) async { await base.setRelays(relays) }
    func reconnect() async { await base.reconnect() }
    func subscribe(_ subscription: RelaySubscription) async { await base.subscribe(subscription) }
    func unsubscribe(_ id: String) async { await base.unsubscribe(id) }
    func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport> {
        if event.kind == .giftWrap, let tag = event.tags.first(where: { $0.name == "p" }), let value = tag.value,
            let recipient = try? PublicKey(hex: value)
        {
            report(.wrapSent(event.id, to: recipient))
        }
        return await base.publish(event, to: relays)
    }
    func fetch(_ filters: [Filter], from relays: [RelayURL], timeout: Duration) async -> [RelayURL: FetchOutcome] {
        await base.fetch(filters, from: relays, timeout: timeout)
    }
    func shutdown() async { await base.shutdown() }
}

extension AgentEvent {
    /// Describes a connection's change or the arrival of a gift wrap; nil for other updates.
    init?(_ update: RelayUpdate) {
        switch update {
        case .event(_, _, let event) where event.kind == .giftWrap: self = .wrapSeen(event.id)
        case .state(let relay, .connected): self = .connected(relay)
        case .state(let relay, .retrying(_, let reason)): self = .disconnected(relay, reason: reason)
        default: return nil
        }
    }
}
