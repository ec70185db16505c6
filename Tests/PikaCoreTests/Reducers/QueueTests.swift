import Nostr
import Testing

@testable import PikaCore

@Suite struct QueueTests {
    private func rows(_ count: Int, lane: UInt8 = 1) throws -> [OutboxRow] {
        var random = StepRandom(state: 3)
        let keys = KeyPair.generate(using: &random)
        let event = UnsignedEvent(pubkey: keys.publicKey, createdAt: 1, kind: .chatMessage, content: "")
            .signed(by: keys, using: &random)
        return (0..<count).map {
            OutboxRow(
                id: "\(lane)/\($0)", sequence: Int64($0), event: event, relays: [], purpose: .message, groupID: [lane])
        }
    }

    @Test func aWindowOfEachLaneIsOnItsWayInOrder() throws {
        var queue = PublishQueue()
        for row in try self.rows(40) { _ = queue.add(row) }
        for row in try self.rows(1, lane: 2) { _ = queue.add(row) }
        let isNew = queue.add(try self.rows(1)[0])
        #expect(!isNew)
        let started = queue.start(nowMilliseconds: 0).map(\.id)
        #expect(started.filter { $0.hasPrefix("1/") } == (0..<PublishQueue.window).map { "1/\($0)" })
        #expect(started.contains("2/0"))
        let result1 = queue.start(nowMilliseconds: 0)
        #expect(result1.isEmpty)
        let result2 = queue.report("1/5", .accepted)
        #expect(result2?.id == "1/5")
        let result3 = queue.report("1/5", .accepted)
        #expect(result3 == nil)
        let result4 = queue.start(nowMilliseconds: 0)
        #expect(result4.map(\.id) == ["1/32"])
        #expect(queue.count == 40)
    }

    @Test func temporaryRefusalsAreTriedAgainAndFinalOnesAreNot() throws {
        for (message, isFinal) in [
            ("rate-limited: slow down", false), ("error: disk", false), ("auth-required: who", false),
            ("blocked: no", true), ("invalid: kind", true), ("", true),
        ] {
            var queue = PublishQueue()
            for row in try self.rows(1) { _ = queue.add(row) }
            _ = queue.start(nowMilliseconds: 0)
            let result5 = queue.report("1/0", .refused(message))
            #expect(result5 == nil)
            let result6 = queue.end("1/0", nowMilliseconds: 0)
            #expect(result6 == (isFinal ? .refused(message) : .retry(atMilliseconds: 500)))
        }
    }

    @Test func oneRelayThatIsDownKeepsARefusedEventAlive() throws {
        var queue = PublishQueue()
        for row in try self.rows(1) { _ = queue.add(row) }
        _ = queue.start(nowMilliseconds: 0)
        _ = queue.report("1/0", .refused("blocked: no"))
        _ = queue.report("1/0", .unreachable("down"))
        let result7 = queue.end("1/0", nowMilliseconds: 0)
        #expect(result7 == .retry(atMilliseconds: 500))
        let result8 = queue.start(nowMilliseconds: 499)
        #expect(result8.isEmpty)
        queue.hurry()
        let result9 = queue.start(nowMilliseconds: 499)
        #expect(result9.map(\.attempts) == [2])
        let result10 = queue.end("unknown", nowMilliseconds: 0)
        #expect(result10 == .none)
    }

    @Test func seenEventsForgetTheOldest() throws {
        let ids = try (0..<6).map { try EventID(bytes: [UInt8](repeating: UInt8($0), count: 32)) }
        var seen = SeenEvents(capacity: 3, newestFirst: [ids[2], ids[1], ids[0], ids[5]])
        #expect(!seen.contains(ids[5]))
        seen.insert(ids[3])
        seen.insert(ids[3])
        #expect(ids.map(seen.contains) == [false, true, true, true, false, false])
        seen.insert(ids[4])
        #expect(ids.map(seen.contains) == [false, false, true, true, true, false])
    }

    @Test func theMailboxKeepsOrderAndBatches() async {
        let mailbox = Mailbox()
        for _ in 0..<5 { mailbox.send(.started) }
        mailbox.send(.timer(.outbox))
        #expect(await mailbox.receive(limit: 4)?.count == 4)
        #expect(!mailbox.isIdle)
        let rest = await mailbox.receive(limit: 4)
        #expect(rest?.count == 2)
        if case .timer(.outbox)? = rest?.last {} else { Issue.record("the last input came out of order") }
        mailbox.close()
        #expect(await mailbox.receive(limit: 4) == nil)
        mailbox.send(.started)
        #expect(await mailbox.receive(limit: 4) == nil)
    }

    @Test func aFullMailboxHoldsSendersBackUntilThereIsRoomOrItCloses() async {
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

    @Test func slowReadersGetTheNewestSnapshotAndEveryOutcome() async {
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
                Issue.record("an outcome is missing")
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

    @Test func aReaderThatIsDroppedIsForgotten() async {
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
