package import FeedRules
import Nostr
import PikaCore
import Synchronization

/// Answers the requests of one webhook feed: an answer of 2xx means that the item is durable.
package final class WebhookGate: Sendable {
    private let outlet: FeedOutlet
    private let rules: Mutex<WebhookRules>

    package init(_ settings: WebhookSettings, outlet: FeedOutlet) {
        self.outlet = outlet
        rules = Mutex(WebhookRules(settings))
    }

    /// The maximum number of bytes of a request's body.
    package var maximumBytes: Int { outlet.maximumBytes }

    /// Decides on a request, and stores its item.
    package func answer(_ headers: WebhookHeaders?, body: [UInt8]) async -> WebhookAnswer {
        guard body.count <= maximumBytes else { return refuse(.tooLarge(limit: maximumBytes)) }
        guard let headers else { return refuse(.malformed) }
        let now = outlet.clock.nowMilliseconds
        let verdict = rules.withLock { rules in
            var generator = SystemRandomNumberGenerator()
            return rules.judge(headers, body: body, nowMilliseconds: now, using: &generator)
        }
        switch verdict {
        case .refused(let refusal): return refuse(refusal)
        case .repeated(let id):
            outlet.monitor.receive(.duplicate, outlet.feed)
            return .duplicate(id: id)
        case .admitted(let id): return await store(outlet.item(id: id, body, contentType: headers.contentType))
        }
    }

    private func store(_ item: FeedItem) async -> WebhookAnswer {
        switch await outlet.sink.receive(FeedDelivery(item)) {
        case .stored(let event):
            rules.withLock { $0.stored(item.id) }
            outlet.monitor.receive(.stored, outlet.feed)
            return .stored(event)
        case .duplicate:
            rules.withLock { $0.stored(item.id) }
            outlet.monitor.receive(.duplicate, outlet.feed)
            return .duplicate(id: item.id)
        case .full: return refuse(.full)
        case .refused: return refuse(.tooLarge(limit: maximumBytes))
        case .closed: return refuse(.ending)
        }
    }

    /// Counts a refused request.
    package func refuse(_ refusal: WebhookRefusal) -> WebhookAnswer {
        outlet.monitor.note(outlet.feed, refusal.error)
        return .refused(refusal)
    }
}
