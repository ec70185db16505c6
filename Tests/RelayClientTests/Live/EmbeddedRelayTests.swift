import EmbeddedRelay
import Errors
import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import RelayClient

/// The pool against a real relay on loopback.
@Suite(.live)
struct EmbeddedRelayTests {
    private let alice = Author.alice

    private func subscription(_ id: String = "s", _ filter: Filter = Filter(kinds: [1])) -> RelaySubscription {
        RelaySubscription(id: id, filters: [filter], overlap: 10)
    }

    /// Publishes in small batches: of a thousand concurrent publishes, some may time out while other tests run.
    private func publish(_ events: [Event], to relay: RelayURL, by pool: RelayPool) async {
        for start in stride(from: 0, to: events.count, by: 40) {
            await withTaskGroup(of: Void.self) { group in
                for event in events[start..<min(start + 40, events.count)] {
                    group.addTask { #expect(await pool.publishAll(event, to: [relay]) == [relay: .accepted]) }
                }
            }
        }
    }

    @Test func publishSubscribeAndFetch() async throws {
        try await withEmbeddedRelay { _, address in
            let relay = RelayURL.known(address)
            try await withPool { pool, updates in
                await pool.setRelays([relay])
                await pool.subscribe(subscription())
                await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
                // Both read the same clock at slightly different times.
                let times: [RelayUpdate] = (-2...2).map { .clock(relay: relay, offset: $0) }
                #expect(updates.seen.count(where: times.contains) == 1)
                #expect(
                    updates.seen.filter { !times.contains($0) } == [
                        .state(relay: relay, .connecting), .state(relay: relay, .connected),
                        .endOfStoredEvents(relay: relay, subscription: "s"),
                    ])
                let events = (0..<3).map { alice.event("\($0)", at: 1_000 + $0) }
                for event in events {
                    #expect(await pool.publishAll(event, to: [relay]) == [relay: .accepted])
                }
                #expect(await updates.events(3) == events)
                #expect(await pool.publishAll(events[0], to: [relay]) == [relay: .accepted])
                let forged = await pool.publishAll(events[0].withForgedContent, to: [relay])
                guard case .refused(let message) = forged[relay] else {
                    Issue.record("unexpected result: \(forged)")
                    return
                }
                #expect(message.hasPrefix("invalid:"))
                let found = await pool.fetch([Filter(kinds: [1])], from: [relay], timeout: .seconds(5))
                #expect(found == [relay: .events(events.reversed())])
            }
        }
    }

    @Test func fetchPagesBeyondTheCap() async throws {
        try await withEmbeddedRelay { _, address in
            let relay = RelayURL.known(address)
            try await withPool { pool, _ in
                let events = (0..<1_201).map { alice.event("\($0)", at: 1_000 + Int64($0 / 3)) }
                await publish(events, to: relay, by: pool)
                let found = await pool.fetch([Filter(kinds: [1])], from: [relay], timeout: .seconds(20))
                guard case .events(let all) = found[relay] else {
                    Issue.record("unexpected result: \(found)")
                    return
                }
                #expect(Set(all) == Set(events))
                #expect(all.count == events.count)
                let limited = await pool.fetch([Filter(kinds: [1], limit: 600)], from: [relay], timeout: .seconds(20))
                guard case .events(let some) = limited[relay] else {
                    Issue.record("unexpected result: \(limited)")
                    return
                }
                #expect(some.prefix(600) == all.prefix(600))
            }
        }
    }

    @Test func standingSubscriptionCatchesUpBeyondTheCap() async throws {
        try await withEmbeddedRelay { _, address in
            let relay = RelayURL.known(address)
            try await withPool { pool, updates in
                let events = (0..<700).map { alice.event("\($0)", at: 1_000 + Int64($0)) }
                await publish(events, to: relay, by: pool)
                await pool.setRelays([relay])
                await pool.subscribe(subscription())
                #expect(Set(await updates.events(700)) == Set(events))
                await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
            }
        }
    }

    @Test func replacingSubscriptionLosesNoEvent() async throws {
        try await withEmbeddedRelay { _, address in
            let relay = RelayURL.known(address)
            try await withPool { pool, updates in
                let limited = subscription("s", Filter(kinds: [1], limit: 1))
                await pool.setRelays([relay])
                await pool.subscribe(limited)
                await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
                let events = (0..<400).map { alice.event("\($0)", at: 1_000 + Int64($0)) }
                try await withPool { other, _ in
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { await publish(events, to: relay, by: other) }
                        group.addTask {
                            for _ in 0..<100 {
                                await pool.subscribe(limited)
                                await Task.yield()
                            }
                        }
                    }
                }
                var missing = Set(events)
                while !missing.isEmpty, let event = await updates.events(1).first { missing.remove(event) }
            }
        }
    }

    @Test func receivesEventsMissedDuringRestart() async throws {
        var configuration = RelayConfiguration()
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        configuration.storage = .file(folder.path + "/relay.sqlite")
        configuration.port = try await freePort()
        let relay = RelayURL.known("ws://127.0.0.1:\(configuration.port)")
        let before = alice.event("before", at: 1_000)
        let during = alice.event("during", at: 1_005)
        let hidden = alice.event("long before", at: 500)
        try await withPool { pool, updates in
            await pool.setRelays([relay])
            await pool.subscribe(subscription())
            try await withEmbeddedRelay(configuration: configuration) { _, _ in
                await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
                #expect(await pool.publishAll(before, to: [relay]) == [relay: .accepted])
                #expect(await updates.events(1) == [before])
            }
            #expect(await updates.reasonOfLoss() != nil)
            // While the pool cannot connect: one event that it must receive, one before its overlap.
            let reports = await pool.publish(during, to: [relay])
            try await withEmbeddedRelay(configuration: configuration) { embedded, _ in
                var outcomes: [PublishReport] = []
                for await report in reports { outcomes.append(report) }
                #expect(outcomes == [PublishReport(relay: relay, outcome: .accepted)])
                #expect(await updates.events(1) == [during])
                try await withPool { other, _ in
                    #expect(await other.publishAll(hidden, to: [relay]) == [relay: .accepted])
                }
                #expect(embedded.subscriptionCount == 1)
            }
            let subscribers = updates.seen.filter { $0 == .endOfStoredEvents(relay: relay, subscription: "s") }
            #expect(!subscribers.isEmpty)
        }
    }

    @Test func deduplicatesAcrossRelays() async throws {
        try await withEmbeddedRelay { _, first in
            try await withEmbeddedRelay { _, second in
                let relays = [RelayURL.known(first), RelayURL.known(second)]
                try await withPool { pool, updates in
                    await pool.setRelays(relays)
                    await pool.subscribe(subscription())
                    for _ in 0..<2 {
                        await updates.first { if case .endOfStoredEvents = $0 { true } else { false } }
                    }
                    let events = (0..<20).map { alice.event("\($0)", at: 1_000 + $0) }
                    for event in events {
                        let outcomes = await pool.publishAll(event, to: relays)
                        #expect(outcomes == [relays[0]: .accepted, relays[1]: .accepted])
                    }
                    let last = alice.event("last", at: 2_000)
                    _ = await pool.publishAll(last, to: [relays[0]])
                    #expect(await updates.events(21) == events + [last])
                }
            }
        }
    }

    @Test func deadRelayDoesNotBlockOthers() async throws {
        let dead = RelayURL.known("ws://127.0.0.1:\(try await freePort())")
        try await withEmbeddedRelay { _, address in
            let alive = RelayURL.known(address)
            try await withPool(configure: { $0.publishTimeout = .seconds(2) }) { pool, updates in
                await pool.setRelays([dead, alive])
                await pool.subscribe(subscription())
                await updates.wait(for: .endOfStoredEvents(relay: alive, subscription: "s"))
                let event = alice.event("x")
                let outcomes = await pool.publishAll(event, to: [dead, alive])
                #expect(outcomes[alive] == .accepted)
                guard case .unreachable(let reason) = outcomes[dead] else {
                    Issue.record("unexpected outcomes: \(outcomes)")
                    return
                }
                #expect(reason == "no connection: connection refused")
                #expect(await updates.events(1) == [event])
                let found = await pool.fetch([Filter(kinds: [1])], from: [dead, alive], timeout: .seconds(2))
                #expect(found[alive] == .events([event]))
                guard case .failed = found[dead] else {
                    Issue.record("unexpected result: \(found)")
                    return
                }
            }
        }
    }

    @Test func logsInWhenRequired() async throws {
        var configuration = RelayConfiguration()
        configuration.requireAuthentication = true
        let signer: RelayPool.Signer = { challenge, relay in
            Author.alice.login(challenge, at: relay, now: UnixTime(Int64(TestTime.now)))
        }
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let relay = RelayURL.known(address)
            try await withPool(signer: signer) { pool, updates in
                await pool.setRelays([relay])
                await pool.subscribe(subscription())
                let outcomes = await pool.publishAll(alice.event("x"), to: [relay])
                #expect(outcomes == [relay: .accepted])
                #expect(await updates.events(1) == [alice.event("x")])
            }
            try await withPool { pool, _ in
                let outcomes = await pool.publishAll(alice.event("y"), to: [relay])
                guard case .refused(let message) = outcomes[relay] else {
                    Issue.record("unexpected outcomes: \(outcomes)")
                    return
                }
                #expect(message.hasPrefix("auth-required:"))
            }
        }
    }

    @Test func relaySetAndSubscriptionsCanChange() async throws {
        try await withEmbeddedRelay { first, firstAddress in
            try await withEmbeddedRelay { second, secondAddress in
                let (one, two) = (RelayURL.known(firstAddress), RelayURL.known(secondAddress))
                try await withPool { pool, updates in
                    await pool.subscribe(
                        RelaySubscription(id: "only two", filters: [Filter(kinds: [1])], relays: [two], overlap: 0))
                    await pool.setRelays([one])
                    await updates.wait(for: .state(relay: one, .connected))
                    await pool.setRelays([one, two])
                    await updates.wait(for: .endOfStoredEvents(relay: two, subscription: "only two"))
                    #expect(first.subscriptionCount == 0 && second.subscriptionCount == 1)
                    await pool.setRelays([two])
                    await updates.wait(for: .state(relay: one, .disconnected))
                    await pool.unsubscribe("only two")
                    _ = await pool.publishAll(alice.event(), to: [two])
                    #expect(second.subscriptionCount == 0)
                    await pool.setRelays([two, one])
                    await updates.wait(for: .state(relay: one, .connected))
                }
            }
        }
    }

    @Test func shutdownFailsPendingRequests() async throws {
        try await withEmbeddedRelay { embedded, address in
            let relay = RelayURL.known(address)
            try await withPool { pool, updates in
                await pool.setRelays([relay])
                await updates.wait(for: .state(relay: relay, .connected))
                await pool.shutdown()
                await pool.shutdown()
                // The clock comparison may precede it.
                await updates.wait(for: .state(relay: relay, .disconnected))
                #expect(await updates.next() == nil)
                #expect(
                    await pool.publishAll(alice.event(), to: [relay])
                        == [relay: .unreachable("the connection was shut down")])
                #expect(
                    await pool.fetch([Filter()], from: [relay], timeout: .seconds(1))
                        == [relay: .failed("the connection was shut down")])
                await #expect(throws: TransportError(.alreadyRun, "")) { try await pool.run() }
            }
        }
    }

    @Test func emptyRequestsFinishImmediately() async throws {
        try await withPool { pool, _ in
            #expect(await pool.publishAll(alice.event(), to: []).isEmpty)
            #expect(
                await pool.fetch([], from: [.known("ws://x")], timeout: .seconds(1)) == [.known("ws://x"): .events([])])
        }
    }
}
