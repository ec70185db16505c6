import Nostr
import PikaCore

/// A transport that reports its connections and every gift wrap sent or received.
struct ObservedTransport<Base: RelayTransport>: RelayTransport {
    let base: Base
    let report: @Sendable (AgentEvent) -> Void
    let updates: AsyncStream<RelayUpdate>

    init(_ base: Base, report: @escaping @Sendable (AgentEvent) -> Void) {
        self.base = base
        self.report = report
        let source = StreamBox(base.updates)
        updates = AsyncStream {
            let update = await source.next()
            switch update {
            case .event(_, _, let event) where event.kind == .giftWrap: report(.wrapSeen(event.id))
            case .state(let relay, .connected): report(.connected(relay))
            case .state(let relay, .retrying(_, let reason)): report(.disconnected(relay, reason: reason))
            default: break
            }
            return update
        }
    }

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

/// Holds the iterator of one stream's consumer.
private actor StreamBox<Element: Sendable> {
    private var iterator: AsyncStream<Element>.Iterator

    init(_ stream: AsyncStream<Element>) {
        iterator = stream.makeAsyncIterator()
    }

    func next() async -> Element? {
        var copy = iterator
        defer { iterator = copy }
        return await copy.next(isolation: self)
    }
}
