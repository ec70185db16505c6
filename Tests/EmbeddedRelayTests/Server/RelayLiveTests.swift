import Foundation
import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.live)
struct RelayLiveTests {
    @Test func storesQueriesAndDelivers() async throws {
        try await withEmbeddedRelay { _, address in
            let alice = try await TestClient.connect(address)
            let bob = try await TestClient.connect(address)
            let early = Author.alice.event("early", at: 100)
            let late = Author.alice.event("late", at: 101)
            #expect(try await alice.publish(early) == (true, ""))
            #expect(try await bob.request("news", Filter(kinds: [1])) == [early])
            #expect(try await alice.publish(late) == (true, ""))
            #expect(try await bob.next() == .event(subscription: "news", late))
            #expect(try await alice.publish(late) == (true, "duplicate: already have this event"))
            #expect(try await bob.request("again", Filter()) == [late, early])
        }
    }

    @Test func deliversToEveryMatchingSubscription() async throws {
        try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            _ = try await client.request("room", Filter(tags: ["h": ["one"]]))
            _ = try await client.request("kind", Filter(kinds: [445]), Filter(kinds: [446]))
            _ = try await client.request("other", Filter(tags: ["h": ["two"]]))
            let event = Author.bob.event(kind: 445, tags: [Tag("h", "one")])
            try await client.send(.event(event))
            var received: Set<RelayMessage> = []
            for _ in 0..<3 { received.insert(try await client.next()) }
            #expect(
                received == [
                    .ok(event.id, accepted: true, message: ""), .event(subscription: "room", event),
                    .event(subscription: "kind", event),
                ])
        }
    }

    @Test func stopsDeliveryOnCloseAndReplacement() async throws {
        try await withEmbeddedRelay { relay, address in
            let client = try await TestClient.connect(address)
            _ = try await client.request("a", Filter(kinds: [1]))
            _ = try await client.request("b", Filter(kinds: [1]))
            try await client.send(.close(subscription: "a"))
            _ = try await client.request("b", Filter(kinds: [2]))
            #expect(try await client.publish(Author.alice.event(kind: 1)) == (true, ""))
            #expect(relay.subscriptionCount == 1)
            #expect(try await client.request("c", Filter(limit: 0)) == [])
        }
    }

    @Test func relaysEphemeralEventsWithoutStoring() async throws {
        try await withEmbeddedRelay { _, address in
            let sender = try await TestClient.connect(address)
            let receiver = try await TestClient.connect(address)
            _ = try await receiver.request("live", Filter(kinds: [.typing]))
            let event = Author.alice.event(kind: .typing)
            #expect(try await sender.publish(event) == (true, ""))
            #expect(try await receiver.next() == .event(subscription: "live", event))
            #expect(try await receiver.request("stored", Filter(kinds: [.typing])) == [])
        }
    }

    @Test func countsMatchesAndRefusesInvalidRequests() async throws {
        try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            for index in 0..<3 { _ = try await client.publish(Author.alice.event("\(index)")) }
            try await client.send(.count(subscription: "n", filters: [Filter(kinds: [1], limit: 1)]))
            #expect(try await client.next() == .count(subscription: "n", 3))
            try await client.send(text: #"["COUNT","n",{"kinds":1}]"#)
            guard case .closed("n", _) = try await client.next() else { return #expect(Bool(false)) }
        }
    }

    @Test func refusesToRestoreDeletedEvents() async throws {
        try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            let event = Author.alice.event("regret")
            _ = try await client.publish(event)
            let deletion = Author.alice.event(kind: .deletion, tags: [.event(event.id)])
            #expect(try await client.publish(deletion) == (true, ""))
            #expect(try await client.request("a", Filter(ids: [event.id])) == [])
            #expect(
                try await client.publish(event) == (false, "blocked: this event was deleted by its author"))
        }
    }

    @Test func usesTheInjectedClock() async throws {
        let clock = ManualClock(now: 1_000)
        try await withEmbeddedRelay(now: { clock.now }) { _, address in
            let client = try await TestClient.connect(address)
            let event = Author.alice.event("brief", at: 1_000, tags: [.expiration(at: 1_010)])
            #expect(try await client.publish(event) == (true, ""))
            #expect(try await client.request("a", Filter()) == [event])
            clock.now = 1_010
            #expect(try await client.request("b", Filter()) == [])
            #expect(try await client.publish(event) == (false, "invalid: the event has expired"))
        }
    }

    @Test func answersManyEventsInFlightExactlyOnce() async throws {
        try await withEmbeddedRelay { _, address in
            let publisher = try await TestClient.connect(address)
            let reader = try await TestClient.connect(address)
            _ = try await reader.request("live", Filter())
            let events = (0..<600).map { Author.alice.event("\($0)", at: UnixTime(Int64($0))) }
            for event in events { try await publisher.send(.event(event)) }
            var answered: [EventID] = []
            var delivered: [EventID] = []
            for _ in events {
                if case .ok(let id?, true, "") = try await publisher.next() { answered.append(id) }
                if case .event(_, let event) = try await reader.next() { delivered.append(event.id) }
            }
            #expect(answered == events.map(\.id))
            #expect(delivered == events.map(\.id))
        }
    }

    /// Requests race with a stream of events; stored and live events together must be complete, without duplicates.
    @Test func liveFollowsStoredWithoutGapOrDuplicate() async throws {
        try await withEmbeddedRelay { _, address in
            let publisher = try await TestClient.connect(address)
            let events = (0..<400).map { Author.alice.event("\($0)", at: UnixTime(Int64($0))) }
            async let sending: Void = publisher.send(events)
            for _ in 0..<10 {
                let reader = try await TestClient.connect(address)
                var received = try await reader.request("all", Filter()).map(\.id)
                while received.count < events.count {
                    guard case .event(_, let event) = try await reader.next() else { break }
                    received.append(event.id)
                }
                #expect(received.count == events.count && Set(received).count == events.count)
                try await reader.close()
            }
            try await sending
        }
    }

    @Test func keepsEventsAcrossRestarts() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = RelayConfiguration()
        configuration.storage = .file(folder.appendingPathComponent("relay.sqlite").path)
        let event = Author.alice.event("kept")
        for round in 0..<2 {
            try await withEmbeddedRelay(configuration: configuration) { _, address in
                let client = try await TestClient.connect(address)
                #expect(try await client.request("a", Filter()) == (round == 0 ? [] : [event]))
                _ = try await client.publish(event)
            }
        }
    }
}
