import BotTesting
import Errors
import LiveTesting
import Nostr
import PikaCore
import Testing

@Suite(.bounded) struct LabNetworkTests {
    private let url: RelayURL
    private let keys: KeyPair

    init() throws {
        var generator = SeededGenerator(seed: 3)
        self.url = try RelayURL("wss://one.example")
        self.keys = KeyPair.generate(using: &generator)
    }

    private func event(_ content: String, _ kind: Kind = .textNote, at time: UnixTime = 100, _ tags: [Nostr.Tag] = [])
        -> Event
    {
        var generator = SeededGenerator(seed: 4)
        return UnsignedEvent(pubkey: keys.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
            .signed(by: keys, using: &generator)
    }

    private func forged() -> Event {
        let event = event("true")
        return Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind, tags: event.tags,
            content: "false", signature: event.signature)
    }

    private func reports(_ transport: LabTransport, _ event: Event) async -> [PublishReport.Outcome] {
        var outcomes: [PublishReport.Outcome] = []
        for await report in await transport.publish(event, to: [url]) { outcomes.append(report.outcome) }
        return outcomes
    }

    @Test func hostileRelayFeignsAndWithholds() async {
        let network = LabNetwork(relays: [url])
        let transport = network.transport(name: "alice")
        await transport.setRelays([url])
        network.setRelayFaults(LabRelayFaults(feigned: 100), of: url, seed: 1)
        #expect(await reports(transport, event("one")) == [.accepted])
        #expect(network.events(at: url).isEmpty)
        network.inject(event("two"), at: url)
        let all = [Filter(kinds: [.textNote])]
        network.setRelayFaults(LabRelayFaults(endless: 100), of: url, seed: 1)
        guard case .failed? = await transport.fetch(all, from: [url], timeout: .seconds(1))[url] else {
            Issue.record("expected the query to fail")
            return
        }
        network.setRelayFaults(.honest, of: url, seed: 1)
        #expect(await transport.fetch(all, from: [url], timeout: .seconds(1))[url] == .events([event("two")]))
        #expect(network.traffic(of: "alice") == LabTraffic(events: 1, requests: 2, connections: 1))
    }

    @Test func relayOrdersExtremeTimes() {
        var relay = LabRelay()
        for time in [UnixTime.distantPast, 0, .distantFuture] { _ = relay.store(event("x", at: time)) }
        #expect(
            relay.stored(matching: [Filter(kinds: [.textNote])]).map(\.createdAt) == [.distantFuture, 0, .distantPast])
    }

    @Test func relayStoresPerNIP01() {
        var relay = LabRelay()
        let old = event("old", .addressableKeyPackage, at: 1, [Nostr.Tag("d", "x")])
        let new = event("new", .addressableKeyPackage, at: 2, [Nostr.Tag("d", "x")])
        #expect(relay.take(new) == .accepted(isNew: true))
        #expect(relay.take(new) == .accepted(isNew: false))
        #expect(relay.take(old) == .accepted(isNew: false))
        #expect(relay.take(event("typing", .typing)) == .accepted(isNew: true))
        #expect(relay.events == [new])
        let notes = (1...3).map { event("note", at: UnixTime(Int64($0))) }
        for note in notes { #expect(relay.take(note) == .accepted(isNew: true)) }
        #expect(relay.stored(matching: [Filter(kinds: [.textNote], limit: 2)]) == [notes[2], notes[1]])
        #expect(relay.stored(matching: []).isEmpty)
        guard case .refused = relay.take(forged()) else {
            Issue.record("expected a forged event to be refused")
            return
        }
        _ = relay.take(event("", .deletion, at: 9, [.event(notes[0].id)]))
        #expect(!relay.events.contains(notes[0]))
        guard case .refused = relay.take(notes[0]) else {
            Issue.record("expected a deleted event to stay deleted")
            return
        }
    }

    @Test func deliversStoredThenLiveEventsInOrder() async throws {
        let network = LabNetwork(relays: [url])
        let sender = network.transport(name: "sender")
        let reader = network.transport(name: "reader")
        let first = event("1", at: 1)
        let second = event("2", at: 2)
        let third = event("3", at: 3)
        #expect(await reports(sender, first) == [.accepted])
        #expect(await reports(sender, second) == [.accepted])
        await reader.subscribe(RelaySubscription(id: "all", filters: [Filter(kinds: [.textNote])], overlap: 0))
        await reader.setRelays([url])
        #expect(await reports(sender, third) == [.accepted])
        network.inject(forged(), at: url)
        network.takeDown(url, reason: "gone")
        #expect(await reports(sender, event("4")) == [.unreachable("gone")])
        network.bringUp(url)
        await reader.setRelays([])
        await reader.shutdown()
        var updates: [RelayUpdate] = []
        for await update in reader.updates { updates.append(update) }
        let end = RelayUpdate.endOfStoredEvents(relay: url, subscription: "all")
        let forgery = RelayUpdate.refused(relay: url, reason: NostrError.Code.idMismatch.description)
        func got(_ event: Event) -> RelayUpdate { .event(relay: url, subscription: "all", event) }
        #expect(
            updates == [
                .state(relay: url, .connecting), .state(relay: url, .connected), got(second), got(first), end,
                got(third), forgery, .state(relay: url, .retrying(attempt: 1, reason: "gone")),
                .state(relay: url, .connecting), .state(relay: url, .connected), forgery, got(third), end,
                .state(relay: url, .disconnected),
            ])
    }

    @Test func publicationsAreRefusedHeldAndReleased() async throws {
        let network = LabNetwork(relays: [url])
        let transport = network.transport(name: "sender")
        network.onPublish { $0.event.content == "no" ? .refuse("blocked: no") : .hold }
        #expect(await reports(transport, event("no")) == [.refused("blocked: no")])
        let waiting = event("wait")
        let stream = await transport.publish(waiting, to: [url])
        #expect(network.heldCount == 1)
        #expect(network.events(at: url).isEmpty)
        network.release()
        var outcomes: [PublishReport.Outcome] = []
        for await report in stream { outcomes.append(report.outcome) }
        #expect(outcomes == [.accepted])
        #expect(network.events(at: url) == [waiting])
        #expect(network.publications.map(\.verdict) == [.refuse("blocked: no"), .hold])
    }

    @Test func fetchFromOfflineRelayFails() async throws {
        let network = LabNetwork(relays: [url])
        let transport = network.transport(name: "reader")
        network.inject(event("x"), at: url)
        let filter = Filter(kinds: [.textNote])
        #expect(await transport.fetch([filter], from: [url], timeout: .zero) == [url: .events([event("x")])])
        network.takeDown(url, reason: "gone")
        #expect(await transport.fetch([filter], from: [url], timeout: .zero) == [url: .failed("gone")])
    }
}
