import BotTesting
import Errors
import LiveTesting
import Synchronization
import Testing

@testable import BotKit

/// A service that performs each idempotency key once, and that may lose its answers.
private final class OrderService: Sendable {
    private let seen = Mutex<[String: Int]>([:])

    /// The attempts by idempotency key.
    var attempts: [String: Int] { seen.withLock { $0 } }

    func order(_ request: BotHTTPRequest) {
        let key = request.headers.first { $0.name == "Idempotency-Key" }?.value ?? ""
        seen.withLock { $0[key, default: 0] += 1 }
    }
}

@Suite(.bounded) struct RequestOutboxTests {
    private let clock = ManualClock()
    private let service = OrderService()

    private func request(_ key: String) -> OutboxRequest {
        OutboxRequest(
            BotHTTPRequest(url: "https://shop.example/orders"), idempotencyKey: key,
            expires: UnixTime(milliseconds: clock.nowMilliseconds) + 60)
    }

    /// Runs an outbox until it reports an outcome.
    private func outcome(_ records: MemoryRecords, adding request: OutboxRequest? = nil) async throws -> OutboxOutcome?
    {
        let service = service
        let (outcomes, outcome) = AsyncStream.makeStream(of: OutboxOutcome.self)
        let outbox = RequestOutbox(
            bot: "cook", name: "orders", limits: OutboxLimits(), records: records, clock: clock,
            send: { request async throws(BotError) -> BotHTTPResponse in
                service.order(request)
                return BotHTTPResponse(status: 201, body: [])
            }, onOutcome: { outcome.yield($0) })
        if let request { try await outbox.add(request) }
        return await withTaskGroup(of: OutboxOutcome?.self) { group in
            group.addTask {
                await outbox.run()
                return nil
            }
            var iterator = outcomes.makeAsyncIterator()
            let first = await iterator.next()
            group.cancelAll()
            return first
        }
    }

    @Test func sendsWithIdempotencyKey() async throws {
        let first = try await outcome(MemoryRecords(), adding: request("k1"))
        #expect(first?.isAccepted == true)
        #expect(service.attempts == ["\"k1\"": 1])
    }

    /// Crashes after each write of a request's life: the request is sent at least once, always with its key.
    @Test(arguments: [1, 2]) func resumesAfterCrash(writes: Int) async throws {
        let records = MemoryRecords()
        records.fail(afterWrites: writes)
        _ = try await outcome(records, adding: request("k1"))
        // The next process finds what was on disk.
        let next = MemoryRecords(records.records)
        let outbox = RequestOutbox(
            bot: "cook", name: "orders", limits: OutboxLimits(), records: next, clock: clock,
            send: { _ async throws(BotError) -> BotHTTPResponse in BotHTTPResponse(status: 201, body: []) },
            onOutcome: { _ in })
        let isLeft = try await outbox.count() > 0
        if isLeft { _ = try await outcome(next) }
        #expect(service.attempts.keys.sorted() == ["\"k1\""])
    }

    @Test func failedAddQueuesNothing() async throws {
        let records = MemoryRecords()
        records.fail(afterWrites: 0)
        let new = request("k1")
        await #expect(throws: BotError.self) { _ = try await outcome(records, adding: new) }
        #expect(records.records.isEmpty)
        #expect(service.attempts.isEmpty)
    }

    @Test func refusesMalformedIdempotencyKeys() async throws {
        for key in ["", "a b", "ü", String(repeating: "a", count: 201)] {
            let new = request(key)
            await #expect(throws: BotError.self) { _ = try await outcome(MemoryRecords(), adding: new) }
        }
    }
}
