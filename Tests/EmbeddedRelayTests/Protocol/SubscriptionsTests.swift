import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

struct SubscriptionsTests {
    private func key(_ serial: UInt64) -> SubscriptionKey { SubscriptionKey(connection: 1, serial: serial) }

    private func serials(_ subscriptions: Subscriptions, _ event: Event) -> [UInt64] {
        subscriptions.matches(event).map(\.key.serial).sorted()
    }

    @Test func indexesEveryFilterField() {
        let event = Author.alice.event(kind: 445, tags: [Tag("h", "room"), Tag("h", "hall"), Tag("x")])
        var subscriptions = Subscriptions()
        let wanted: [Filter] = [
            Filter(ids: [event.id]), Filter(authors: [Author.bob.publicKey, Author.alice.publicKey]),
            Filter(kinds: [445]), Filter(tags: ["h": ["hall", "nowhere"]]), Filter(),
            Filter(authors: [Author.alice.publicKey], kinds: [445], since: 1, tags: ["h": ["room"]]),
        ]
        let unwanted: [Filter] = [
            Filter(ids: []), Filter(authors: [Author.bob.publicKey]), Filter(kinds: [1]),
            Filter(tags: ["x": [""]]), Filter(kinds: [445], tags: ["h": ["room"], "e": ["1"]]),
            Filter(kinds: [445], until: 1), Filter(authors: [Author.alice.publicKey], kinds: []),
        ]
        for (index, filter) in (wanted + unwanted).enumerated() {
            subscriptions.add(key(UInt64(index)), name: "s", filters: [filter])
        }
        #expect(serials(subscriptions, event) == Array(0..<UInt64(wanted.count)))
    }

    @Test func indexAgreesWithExhaustiveMatching() {
        var generator = SplitMix64(seed: 11)
        var subscriptions = Subscriptions()
        var filters: [UInt64: [Filter]] = [:]
        for serial in 0..<200 as Range<UInt64> {
            let some = (0..<Int.random(in: 1...3, using: &generator)).map { _ in RandomNostr.filter(&generator) }
            filters[serial] = some
            subscriptions.add(key(serial), name: "s", filters: some)
        }
        for serial in stride(from: 0, to: 200, by: 7) as StrideTo<UInt64> {
            subscriptions.remove(key(serial))
            filters[serial] = nil
        }
        for _ in 0..<200 {
            let event = RandomNostr.event(&generator)
            let expected = filters.filter { $0.value.contains { $0.matches(event) } }.keys.sorted()
            #expect(serials(subscriptions, event) == expected)
        }
    }

    @Test func matchesEachSubscriptionOnce() {
        var subscriptions = Subscriptions()
        subscriptions.add(key(1), name: "s", filters: [Filter(), Filter(kinds: [1]), Filter(kinds: [1])])
        #expect(serials(subscriptions, Author.alice.event()) == [1])
    }

    @Test func forgetsRemovedAndReplacedSubscriptions() {
        var subscriptions = Subscriptions()
        subscriptions.add(key(1), name: "s", filters: [Filter(kinds: [1])])
        subscriptions.add(key(1), name: "s", filters: [Filter(kinds: [2])])
        #expect(subscriptions.matches(Author.alice.event(kind: 1)).isEmpty)
        #expect(serials(subscriptions, Author.alice.event(kind: 2)) == [1])
        subscriptions.remove(key(1))
        subscriptions.remove(key(1))
        #expect(subscriptions.matches(Author.alice.event(kind: 2)).isEmpty)
        #expect(subscriptions.count == 0)
    }
}
