import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import RelayClient

@Suite(.bounded) struct SideListenersTests {
    private let relay = RelayURL.known("wss://relay.example")

    private func event(_ number: Int, for subscription: String) -> RelayUpdate {
        .event(relay: relay, subscription: subscription, Author.alice.event("\(number)", at: UnixTime(Int64(number))))
    }

    @Test func receivesOnlyItsOwnSubscription() async {
        let listeners = SideListeners()
        let updates = listeners.add("a")
        #expect(listeners.deliver(event(1, for: "a")))
        #expect(!listeners.deliver(event(2, for: "b")))
        #expect(!listeners.deliver(.state(relay: relay, .connected)))
        #expect(!listeners.deliver(.refused(relay: relay, reason: "malformed")))
        #expect(listeners.deliver(.closed(relay: relay, subscription: "a", message: "error: no")))
        #expect(listeners.deliver(.endOfStoredEvents(relay: relay, subscription: "a")))
        listeners.remove("a")
        #expect(!listeners.deliver(event(3, for: "a")))
        var seen: [RelayUpdate] = []
        for await update in updates { seen.append(update) }
        #expect(
            seen == [
                event(1, for: "a"), .closed(relay: relay, subscription: "a", message: "error: no"),
                .endOfStoredEvents(relay: relay, subscription: "a"),
            ])
    }

    @Test func laggingListenerDropsOldestWithoutBlocking() async {
        let listeners = SideListeners()
        let updates = listeners.add("a")
        for number in 0..<100 { #expect(listeners.deliver(event(number, for: "a"))) }
        listeners.removeAll()
        var seen: [RelayUpdate] = []
        for await update in updates { seen.append(update) }
        #expect(seen == (36..<100).map { event($0, for: "a") })
    }

    @Test func newListenerReplacesTheFormer() async {
        let listeners = SideListeners()
        let former = listeners.add("a")
        let updates = listeners.add("a")
        for await update in former { Issue.record("unexpected update: \(update)") }
        #expect(listeners.deliver(event(1, for: "a")))
        listeners.removeAll()
        for await update in updates { #expect(update == event(1, for: "a")) }
    }
}
