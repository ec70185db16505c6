import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct PublishQueueTests {
    private let a: RelayURL
    private let b: RelayURL

    init() throws {
        self.a = try RelayURL("wss://a.example")
        self.b = try RelayURL("wss://b.example")
    }

    private func rows(
        _ count: Int, lane: UInt8 = 1, from first: Int64 = 0, relays: [RelayURL]? = nil,
        purpose: OutboxRow.Purpose = .message
    ) throws -> [OutboxRow] {
        var random = SplitMix64(seed: 3)
        let keys = KeyPair.generate(using: &random)
        let event = UnsignedEvent(pubkey: keys.publicKey, createdAt: 1, kind: .chatMessage, content: "")
            .signed(by: keys, using: &random)
        return (0..<count).map {
            OutboxRow(
                id: "\(lane)/\(first + Int64($0))", sequence: first + Int64($0), event: event,
                relays: relays ?? [self.a], purpose: purpose, groupID: [lane])
        }
    }

    private func queue(_ rows: [OutboxRow]) -> PublishQueue {
        var queue = PublishQueue()
        for row in rows { _ = queue.add(row) }
        return queue
    }

    private func report(
        _ queue: inout PublishQueue, _ id: String, _ relay: RelayURL, _ outcome: PublishReport.Outcome,
        at now: Int64 = 0
    ) -> PublishQueue.Progress {
        queue.report(id, PublishReport(relay: relay, outcome: outcome), nowMilliseconds: now)
    }

    private func start(_ queue: inout PublishQueue, at now: Int64 = 0, away: Set<RelayURL> = []) -> [String] {
        queue.start(nowMilliseconds: now, away: away).map { departure in
            "\(departure.row.id) " + departure.relays.map { $0.host.prefix(1) }.joined()
        }
    }

    // MARK: First relay

    @Test func sendsEachLaneInOrderWithinWindow() throws {
        var queue = self.queue(try self.rows(40) + self.rows(1, lane: 2))
        let isNew = queue.add(try self.rows(1)[0])
        #expect(!isNew)
        let started = self.start(&queue)
        #expect(started.filter { $0.hasPrefix("1/") } == (0..<PublishQueue.window).map { "1/\($0) a" })
        #expect(started.contains("2/0 a"))
        #expect(self.start(&queue).isEmpty)
        guard case .settled(let row, let forgotten) = self.report(&queue, "1/5", self.a, .accepted) else {
            Issue.record("expected the first relay's answer to settle the row")
            return
        }
        #expect(row.id == "1/5" && row.leftover?.relays.isEmpty == true && forgotten.isEmpty)
        #expect(self.report(&queue, "1/5", self.a, .accepted) == .none)
        #expect(self.start(&queue) == ["1/32 a"])
        #expect(queue.count == 40)
    }

    @Test func retriesOnlyTemporaryRefusals() throws {
        for (message, isFinal) in [
            ("rate-limited: slow down", false), ("error: disk", false), ("auth-required: who", false),
            ("blocked: no", true), ("invalid: kind", true), ("", true),
        ] {
            var queue = self.queue(try self.rows(1))
            _ = self.start(&queue)
            #expect(self.report(&queue, "1/0", self.a, .refused(message)) == .none)
            let verdict = queue.end("1/0", relays: [self.a], nowMilliseconds: 0)
            #expect(verdict == (isFinal ? .refused(message) : .retry(atMilliseconds: 500)))
        }
    }

    @Test func retriesRefusedEventWhileRelayIsDown() throws {
        var queue = self.queue(try self.rows(1, relays: [self.a, self.b]))
        _ = self.start(&queue)
        _ = self.report(&queue, "1/0", self.a, .refused("blocked: no"))
        _ = self.report(&queue, "1/0", self.b, .unreachable("down"))
        #expect(queue.end("1/0", relays: [self.a, self.b], nowMilliseconds: 0) == .retry(atMilliseconds: 500))
        #expect(self.start(&queue, at: 499).isEmpty)
        queue.makeDue(self.b)
        #expect(queue.start(nowMilliseconds: 499).map(\.row.attempts) == [2])
        #expect(queue.end("unknown", relays: [self.a], nowMilliseconds: 0) == .none)
    }

    @Test func retriesRefusedEventWhileRelayIsSilent() throws {
        var queue = self.queue(try self.rows(1, relays: [self.a, self.b]))
        _ = self.start(&queue)
        _ = self.report(&queue, "1/0", self.a, .refused("blocked: no"))
        #expect(queue.end("1/0", relays: [self.a, self.b], nowMilliseconds: 0) == .retry(atMilliseconds: 500))
    }

    // MARK: Other relays

    @Test func deliversToRemainingRelaysInBackground() throws {
        var queue = self.queue(try self.rows(1, relays: [self.a, self.b]))
        #expect(self.start(&queue) == ["1/0 ab"])
        _ = self.report(&queue, "1/0", self.b, .unreachable("down"))
        guard case .settled(let row, _) = self.report(&queue, "1/0", self.a, .accepted) else {
            Issue.record("expected one relay to settle the row")
            return
        }
        #expect(row.leftover == OutboxRow.Leftover(settledAt: 0, relays: [self.b]))
        #expect(queue.count == 0 && queue.backlog.count == 1 && queue.row("1/0") != nil)
        #expect(self.start(&queue) == ["1/0 b"])
        #expect(self.report(&queue, "1/0", self.b, .unreachable("down")) == .retry(atMilliseconds: 5000))
        #expect(self.start(&queue, at: 4999).isEmpty)
        #expect(self.start(&queue, at: 5000) == ["1/0 b"])
        #expect(self.report(&queue, "1/0", self.b, .unreachable("x"), at: 5000) == .retry(atMilliseconds: 15_000))
        queue.makeDue(self.b)
        #expect(self.start(&queue, at: 5001) == ["1/0 b"])
        #expect(self.report(&queue, "1/0", self.b, .accepted, at: 5002) == .delivered(row: "1/0"))
        #expect(queue.row("1/0") == nil && queue.backlog.count == 0)
    }

    @Test func skipsOfflineRelays() throws {
        var row = try self.rows(1, relays: [self.a, self.b])[0]
        row.leftover = OutboxRow.Leftover(settledAt: 0, relays: [self.b])
        var queue = self.queue([row])
        #expect(self.start(&queue, away: [self.b]).isEmpty)
        #expect(self.start(&queue) == ["1/0 b"])
    }

    @Test func acceptsLateAnswerToFirstAttempt() throws {
        var queue = self.queue(try self.rows(1, relays: [self.a, self.b]))
        _ = self.start(&queue)
        _ = self.report(&queue, "1/0", self.a, .accepted)
        // Still unanswered there, so it is not sent again.
        #expect(self.start(&queue).isEmpty)
        #expect(self.report(&queue, "1/0", self.b, .accepted) == .delivered(row: "1/0"))
        // A missing answer counts as unreachable.
        queue = self.queue(try self.rows(1, relays: [self.a, self.b]))
        _ = self.start(&queue)
        _ = self.report(&queue, "1/0", self.a, .accepted)
        #expect(queue.end("1/0", relays: [self.a, self.b], nowMilliseconds: 0) == .retry(atMilliseconds: 5000))
    }

    @Test func sendsMissingCommitBeforeNewerGroupEvents() throws {
        let both = [self.a, self.b]
        var commit = try self.rows(1, relays: both, purpose: .commit)[0]
        commit.leftover = OutboxRow.Leftover(settledAt: 0, relays: [self.b])
        var queue = self.queue(
            try [commit] + self.rows(2, from: 1, relays: both) + self.rows(1, lane: 2, from: 3, relays: both))
        #expect(self.start(&queue, away: [self.b]) == ["1/1 a", "1/2 a", "2/3 ab"])
        _ = self.report(&queue, "1/1", self.a, .accepted)
        _ = self.report(&queue, "1/2", self.a, .accepted)
        // The relay is back: the commit is sent alone, and the rest in order after its acknowledgement.
        queue.makeDue(self.b)
        #expect(self.start(&queue) == ["1/0 b"])
        #expect(self.start(&queue).isEmpty)
        #expect(self.report(&queue, "1/0", self.b, .accepted) == .delivered(row: "1/0"))
        #expect(self.start(&queue) == ["1/1 b", "1/2 b"])
    }

    @Test func holdsEventUntilOnlyRelayHasCommit() throws {
        var commit = try self.rows(1, purpose: .commit)[0]
        commit.leftover = OutboxRow.Leftover(settledAt: 0, relays: [self.a])
        var queue = self.queue(try [commit] + self.rows(1, from: 1))
        #expect(self.start(&queue) == ["1/0 a"])
        #expect(self.report(&queue, "1/0", self.a, .refused("blocked: no")) == .delivered(row: "1/0"))
        #expect(self.start(&queue) == ["1/1 a"])
    }

    @Test func leftoversDoNotFillWindow() throws {
        let old = try self.rows(40, relays: [self.a, self.b]).map { row in
            var row = row
            row.leftover = OutboxRow.Leftover(settledAt: 0, relays: [self.b])
            return row
        }
        var queue = self.queue(try old + self.rows(3, from: 100))
        let started = self.start(&queue)
        #expect(started.filter { $0.hasSuffix(" b") } == (0..<RelayBacklog.window).map { "1/\($0) b" })
        #expect(started.filter { $0.hasSuffix(" a") } == ["1/100 a", "1/101 a", "1/102 a"])
    }

    @Test func dropsRepeatedlyRefusedEventWithoutBlockingOthers() throws {
        let old = try self.rows(2, relays: [self.a, self.b]).map { row in
            var row = row
            row.leftover = OutboxRow.Leftover(settledAt: 0, relays: [self.b])
            return row
        }
        var queue = self.queue(old)
        #expect(self.start(&queue) == ["1/0 b", "1/1 b"])
        #expect(self.report(&queue, "1/1", self.b, .accepted) == .delivered(row: "1/1"))
        var now: Int64 = 0
        for _ in 1..<RelayBacklog.maximumRefusals {
            let progress = self.report(&queue, "1/0", self.b, .refused("error: no"), at: now)
            guard case .retry(let time) = progress else {
                Issue.record("unexpected progress: \(progress)")
                return
            }
            now = time
            #expect(self.start(&queue, at: now) == ["1/0 b"])
        }
        #expect(self.report(&queue, "1/0", self.b, .refused("error: no"), at: now) == .delivered(row: "1/0"))
    }

    @Test func backlogExpiresAfterOneDayDroppingOldest() throws {
        let old = try self.rows(RelayBacklog.capacity, relays: [self.a, self.b]).map { row in
            var row = row
            row.leftover = OutboxRow.Leftover(settledAt: UnixTime(row.sequence), relays: [self.b])
            return row
        }
        var queue = self.queue(old)
        _ = queue.add(try self.rows(1, from: 9000, relays: [self.a, self.b])[0])
        _ = self.start(&queue, away: [self.b])
        let progress = self.report(&queue, "1/9000", self.a, .accepted)
        guard case .settled(_, let forgotten) = progress else {
            Issue.record("unexpected progress: \(progress)")
            return
        }
        #expect(forgotten == ["1/0"])
        #expect(queue.backlog.count == RelayBacklog.capacity)
        #expect(queue.expireLeftovers(now: UnixTime(RelayBacklog.lifetime)).sorted() == ["1/9000"])
        #expect(queue.expireLeftovers(now: UnixTime(RelayBacklog.lifetime + 1)) == ["1/1"])
        #expect(queue.expireLeftovers(now: UnixTime(10 * RelayBacklog.lifetime)).count == RelayBacklog.capacity - 2)
        #expect(queue.backlog.count == 0 && self.start(&queue, at: 0).isEmpty)
    }

    @Test func neverSendsProposalToLateRelays() throws {
        var queue = self.queue(try self.rows(1, relays: [self.a, self.b], purpose: .proposal))
        _ = self.start(&queue)
        guard case .settled(let row, _) = self.report(&queue, "1/0", self.a, .accepted) else {
            Issue.record("expected the row to be settled")
            return
        }
        #expect(row.leftover?.relays == [] && queue.row("1/0") == nil)
        #expect(self.report(&queue, "1/0", self.b, .unreachable("down")) == .none)
        #expect(self.start(&queue).isEmpty)
    }

    @Test func settledRowStillReachesEveryRelay() throws {
        var queue = self.queue(try self.rows(1, relays: [self.a, self.b]))
        guard case .settled(let row, _) = queue.settle("1/0", now: 7) else {
            Issue.record("expected the row to be settled")
            return
        }
        #expect(row.leftover == OutboxRow.Leftover(settledAt: 7, relays: [self.a, self.b]))
        #expect(queue.settle("1/0", now: 7) == .none)
        #expect(self.start(&queue) == ["1/0 a", "1/0 b"])
        #expect(queue.remove("1/0")?.id == "1/0")
        #expect(self.start(&queue).isEmpty)
    }
}
