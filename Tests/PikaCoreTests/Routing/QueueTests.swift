import LiveTesting
import Nostr
import Testing

@testable import PikaCore

@Suite(.bounded) struct QueueTests {
    @Test func seenEventsDropOldest() throws {
        let ids = try (0..<6).map { try EventID(bytes: [UInt8](repeating: UInt8($0), count: 32)) }
        var seen = SeenEvents(newestFirst: [ids[2], ids[1], ids[0], ids[5]], capacity: 3)
        #expect(!seen.contains(ids[5]))
        seen.insert(ids[3])
        seen.insert(ids[3])
        #expect(ids.map(seen.contains) == [false, true, true, true, false, false])
        seen.insert(ids[4])
        #expect(ids.map(seen.contains) == [false, false, true, true, true, false])
    }

    @Test func refusedEventsNeverEvictGenuineOnes() throws {
        let ids = try (0..<8).map { try EventID(bytes: [UInt8](repeating: UInt8($0), count: 32)) }
        var seen = SeenEvents(newestFirst: [ids[0]], refusedNewestFirst: [ids[1]], capacity: 2, refusedCapacity: 2)
        for id in ids[2...5] { seen.insertRefused(id) }
        #expect(ids.map(seen.contains) == [true, false, false, false, true, true, false, false])
        // A genuine event stays remembered when refused ones are forgotten.
        seen.insert(ids[5])
        seen.insertRefused(ids[6])
        seen.insertRefused(ids[7])
        #expect(ids.map(seen.contains) == [true, false, false, false, false, true, true, true])
    }

    @Test func mailboxKeepsOrderAndBatches() async {
        let mailbox = Mailbox()
        for _ in 0..<5 { mailbox.send(.started) }
        mailbox.send(.timer(.outbox))
        #expect(await mailbox.receive(limit: 4)?.count == 4)
        #expect(!mailbox.isIdle)
        let rest = await mailbox.receive(limit: 4)
        #expect(rest?.count == 2)
        if case .timer(.outbox)? = rest?.last {} else { Issue.record("expected the inputs in order") }
        mailbox.close()
        #expect(await mailbox.receive(limit: 4) == nil)
        mailbox.send(.started)
        #expect(await mailbox.receive(limit: 4) == nil)
    }

    @Test func fullMailboxBlocksSenders() async {
        let mailbox = Mailbox()
        for _ in 0..<1024 { mailbox.send(.started) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await mailbox.sendWhenRoom(.timer(.outbox)) }
            var count = 0
            while count < 1025, let batch = await mailbox.receive(limit: 128) { count += batch.count }
            #expect(count == 1025)
        }
        for _ in 0..<1024 { mailbox.send(.started) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await mailbox.sendWhenRoom(.started) }
            mailbox.close()
        }
    }

    @Test func relayUpdatesWaitForTheNextBatch() async throws {
        let mailbox = Mailbox()
        let update = RelayUpdate.refused(relay: try RelayURL("wss://one.example"), reason: "r")
        for _ in 0..<Mailbox.batch { await mailbox.deliver(update) }
        #expect(mailbox.offer(update) == false)
        mailbox.send(.timer(.outbox))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { await mailbox.deliver(update) } }
            var count = 0
            while count < Mailbox.batch + 11, let inputs = await mailbox.receive(limit: 100) { count += inputs.count }
            #expect(count == Mailbox.batch + 11)
        }
        for _ in 0..<Mailbox.batch { await mailbox.deliver(update) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await mailbox.deliver(update) }
            mailbox.close()
        }
    }

    @Test func largeRelayUpdatesFillTheBatch() async throws {
        let mailbox = Mailbox()
        let relay = try RelayURL("wss://one.example")
        let large = RelayUpdate.closed(relay: relay, subscription: "s", message: String(repeating: "x", count: 1 << 20))
        #expect(mailbox.offer(large) == true)
        #expect(mailbox.offer(.endOfStoredEvents(relay: relay, subscription: "s")) == false)
        #expect(await mailbox.receive(limit: 1)?.count == 1)
        #expect(mailbox.offer(large) == true)
    }

    @Test func slowReadersMissNoOutcome() async {
        let hub = UpdateHub()
        var reader = hub.updates().makeAsyncIterator()
        for rev in 1...5 {
            var state = AppState()
            state.rev = UInt64(rev)
            hub.publish(state)
            hub.publish(
                .finished(rev: UInt64(rev), request: RequestID(rawValue: "\(rev)"), outcome: .done(chatID: nil)))
        }
        #expect(await reader.next()?.rev == 5)
        for rev in 1...5 {
            guard case .finished(_, let request, _)? = await reader.next() else {
                Issue.record("expected an outcome")
                return
            }
            #expect(request.rawValue == "\(rev)")
        }
        var late = hub.updates().makeAsyncIterator()
        #expect(await late.next()?.rev == 5)
        hub.close()
        #expect(await reader.next() == nil)
        #expect(await late.next() == nil)
    }

    private func delivery(_ number: Int) throws -> AppUpdate {
        .delivery(
            rev: UInt64(number), chatID: "c", messageID: try EventID(bytes: [UInt8](repeating: 1, count: 32)), .sent)
    }

    private func outcome(_ number: Int) -> AppUpdate {
        .finished(rev: UInt64(number), request: RequestID(rawValue: "\(number)"), outcome: .done(chatID: nil))
    }

    @Test func slowReadersLoseDeliveriesBeforeOutcomes() async throws {
        let hub = UpdateHub()
        var reader = hub.updates().makeAsyncIterator()
        for number in 0..<UpdateHub.maximumOutcomes { hub.publish(try self.delivery(number)) }
        for number in 0..<10 { hub.publish(self.outcome(number)) }
        #expect(await reader.next()?.rev == 10)
        for _ in 11..<UpdateHub.maximumOutcomes { _ = await reader.next() }
        for number in 0..<10 { #expect(await reader.next() == self.outcome(number)) }
    }

    @Test func endsReadersWithTooManyUnreadOutcomes() async {
        let hub = UpdateHub()
        var reader = hub.updates().makeAsyncIterator()
        for number in 0...UpdateHub.maximumOutcomes + 100 { hub.publish(self.outcome(number)) }
        hub.publish(AppState())
        var count = 0
        while case .finished? = await reader.next() { count += 1 }
        #expect(count <= UpdateHub.maximumOutcomes)
        var rest = 0
        while await reader.next() != nil { rest += 1 }
        #expect(count + rest <= UpdateHub.maximumOutcomes + 1)
    }

    @Test func removesDroppedReaders() async {
        let hub = UpdateHub()
        hub.publish(AppState())
        for await _ in hub.updates() { break }
        let stream = hub.updates()
        let task = Task { for await _ in stream {} }
        task.cancel()
        await task.value
        #expect(hub.readerCount <= 1)
    }
}
