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

    @Test func inputsThatWaitResumeNobody() async {
        let mailbox = Mailbox()
        mailbox.enqueue(.timer(.retention))
        #expect(!mailbox.isIdle)
        await withTaskGroup(of: [CoreInput]?.self) { group in
            group.addTask { await mailbox.receive(limit: 4) }
            mailbox.enqueue(.timer(.outbox))
            mailbox.send(.started)
            let batch = await group.next() ?? nil
            #expect(batch?.count == 3)
            if case .timer(.retention)? = batch?.first {} else { Issue.record("expected the inputs in order") }
        }
        for _ in 0..<3 { mailbox.enqueue(.started) }
        mailbox.send(.started)
        #expect(await mailbox.receive(limit: 2)?.count == 2)
        #expect(await mailbox.receive(limit: 2)?.count == 2)
        mailbox.enqueue(.started)
        mailbox.finish()
        #expect(await mailbox.receive(limit: 4)?.count == 1)
        #expect(await mailbox.receive(limit: 4) == nil)
    }

    @Test func waitEndsWithInputsOrWhenItIsOver() async {
        let mailbox = Mailbox()
        mailbox.beginWait()
        await withTaskGroup(of: [CoreInput]?.self) { group in
            group.addTask { await mailbox.receiveUntilWaitEnds(limit: 4) }
            // An input that can wait does not end the wait; the next one does.
            mailbox.enqueue(.started)
            mailbox.send(.timer(.outbox))
            for await batch in group { #expect(batch?.count == 2) }
        }
        #expect(!mailbox.isIdle)
        await withTaskGroup(of: [CoreInput]?.self) { group in
            group.addTask { await mailbox.receiveUntilWaitEnds(limit: 4) }
            mailbox.endWait()
            for await batch in group { #expect(batch == nil) }
        }
        // Inputs come first, also when the wait is over already.
        mailbox.send(.started)
        mailbox.endWait()
        #expect(await mailbox.receiveUntilWaitEnds(limit: 4)?.count == 1)
        #expect(await mailbox.receiveUntilWaitEnds(limit: 4) == nil)
        mailbox.beginWait()
        mailbox.close()
        #expect(await mailbox.receiveUntilWaitEnds(limit: 4) == nil)
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

    @Test func outcomeReadersGetNoSnapshots() async {
        let hub = UpdateHub()
        hub.publish(AppState())
        var reader = hub.outcomes().makeAsyncIterator()
        hub.publish(AppState())
        hub.publish(self.outcome(1))
        hub.publish(AppState())
        guard case .finished(_, let request, _)? = await reader.next() else {
            Issue.record("expected an outcome")
            return
        }
        #expect(request.rawValue == "1")
        hub.close()
        #expect(await reader.next() == nil)
    }

    @Test func slowReadersMissNoOutcome() async {
        let hub = UpdateHub()
        var reader = hub.updates().makeAsyncIterator()
        for rev in 1...5 {
            hub.publish(AppState())
            hub.publish(self.outcome(rev))
        }
        #expect(await reader.next()?.rev == 5)
        for rev in 1...5 {
            guard case .finished(let number, let request, _)? = await reader.next() else {
                Issue.record("expected an outcome")
                return
            }
            #expect(request.rawValue == "\(rev)" && number == UInt64(5 + rev))
        }
        var late = hub.updates().makeAsyncIterator()
        #expect(await late.next()?.rev == 5)
        hub.close()
        #expect(await reader.next() == nil)
        #expect(await late.next() == nil)
    }

    private func delivery(_ number: Int) throws -> UpdateHub.Outcome {
        var bytes = [UInt8](repeating: 0, count: 32)
        withUnsafeBytes(of: UInt64(number).bigEndian) { bytes.replaceSubrange(24..., with: $0) }
        return .delivery("c", try EventID(bytes: bytes), .sent)
    }

    private func outcome(_ number: Int) -> UpdateHub.Outcome {
        .finished(RequestID(rawValue: "\(number)"), .done(chatID: nil))
    }

    /// Random sequences of snapshots, outcomes and deliveries, with readers of random speed: a reader that drops what is
    /// not newer drops nothing, misses no outcome, and ends with the newest state.
    @Test(arguments: 0..<40) func revisionsStrictlyIncreaseForEveryReader(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let hub = UpdateHub()
        var readers = (0..<3).map { _ in hub.updates().makeAsyncIterator() }
        var last = [UInt64](repeating: 0, count: readers.count)
        var states = last
        var outcomes = [Set<String>](repeating: [], count: readers.count)
        var waiting = [0, 0, 0]
        var published: Set<String> = []
        var newest: UInt64 = 0
        // Whether each reader has received the newest snapshot.
        var isCurrent = [true, true, true]
        for number in 0..<200 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                newest = hub.publish(AppState()).rev
                isCurrent = [false, false, false]
            case 1:
                hub.publish(self.outcome(number))
                published.insert("\(number)")
                for reader in readers.indices { waiting[reader] += 1 }
            default:
                hub.publish(try self.delivery(number))
                for reader in readers.indices { waiting[reader] += 1 }
            }
            for reader in readers.indices {
                var reads = number == 199 ? 1000 : Int.random(in: 0...(2 * reader), using: &random)
                while reads > 0, !isCurrent[reader] || waiting[reader] > 0 {
                    reads -= 1
                    let next = await readers[reader].next()
                    let update = try #require(next)
                    #expect(update.rev > last[reader], "a reader that drops what is not newer must lose nothing")
                    last[reader] = update.rev
                    switch update {
                    case .fullState(let state):
                        states[reader] = state.rev
                        isCurrent[reader] = true
                    case .finished(let rev, let request, _):
                        #expect(rev > states[reader] && isCurrent[reader], "a state must precede its outcomes")
                        outcomes[reader].insert(request.rawValue)
                        waiting[reader] -= 1
                    case .delivery: waiting[reader] -= 1
                    }
                }
            }
        }
        for reader in readers.indices { #expect(outcomes[reader] == published && states[reader] == newest) }
    }

    @Test func slowReadersLoseDeliveriesBeforeOutcomes() async throws {
        let hub = UpdateHub()
        var reader = hub.updates().makeAsyncIterator()
        for number in 0..<UpdateHub.maximumOutcomes { hub.publish(try self.delivery(number)) }
        for number in 0..<10 { hub.publish(self.outcome(number)) }
        let first = await reader.next()
        #expect(try first == self.delivery(10).update(rev: 1))
        for _ in 11..<UpdateHub.maximumOutcomes { _ = await reader.next() }
        for number in 0..<10 {
            let rev = UInt64(UpdateHub.maximumOutcomes - 10 + number + 1)
            #expect(await reader.next() == self.outcome(number).update(rev: rev))
        }
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
