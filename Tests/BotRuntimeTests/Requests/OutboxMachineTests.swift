import BotTesting
import Testing

@testable import BotKit

struct OutboxMachineTests {
    private func request(_ id: String, order: String = "", expires: Int64 = 1_000) -> OutboxRequest {
        OutboxRequest(
            BotHTTPRequest(url: "https://shop.example"), idempotencyKey: id, orderKey: order,
            expires: UnixTime(milliseconds: expires * 1_000))
    }

    private func machine(_ requests: OutboxRequest...) -> OutboxMachine {
        OutboxMachine(limits: OutboxLimits(), requests: requests, remembered: [])
    }

    private let ok = Result<BotHTTPResponse, BotError>.success(BotHTTPResponse(status: 201, body: []))

    @Test func sendsRequestsOfAKeyInOrder() {
        var machine = machine(request("1", order: "a"), request("2", order: "a"), request("3", order: "b"))
        let first = machine.begin(now: 0).map { $0.id }
        #expect(first == ["1", "3"])
        let verdict = machine.ended("1", ok, now: 0, jitter: 1)
        #expect(verdict == .finished(.answered(BotHTTPResponse(status: 201, body: []))))
        machine.finish("1")
        let second = machine.begin(now: 0).map { $0.id }
        #expect(second == ["2"])
    }

    @Test func backsOffAfterTemporaryFailures() {
        var machine = machine(request("1"))
        for (attempt, wait) in [1_000, 2_000, 4_000].enumerated() {
            let now = Int64(attempt) * 10_000
            _ = machine.begin(now: now)
            let verdict = machine.ended(
                "1", .success(BotHTTPResponse(status: 503, body: [])), now: now, jitter: 1)
            #expect(verdict == .retry)
            #expect(machine.nextTime(after: now) == now + Int64(wait))
            let early = machine.begin(now: now + Int64(wait) - 1)
            #expect(early.isEmpty)
        }
    }

    @Test func permanentRefusalsEnd() {
        var machine = machine(request("1"), request("2", order: "b"))
        _ = machine.begin(now: 0)
        let refusal = BotHTTPResponse(status: 422, body: [])
        let verdict = machine.ended("1", .success(refusal), now: 0, jitter: 1)
        #expect(verdict == .finished(.answered(refusal)))
        let error = BotError(.signedOut, "signed out")
        let signedOut = machine.ended("2", .failure(error), now: 0, jitter: 1)
        #expect(signedOut == .finished(.failed(error)))
    }

    @Test func neverSendsExpiredRequests() {
        var machine = machine(request("1", expires: 5))
        let begun = machine.begin(now: 5_000)
        #expect(begun.isEmpty)
        let expired = machine.expire(now: 5_000).map { $0.id }
        #expect(expired == ["1"])
        let again = machine.expire(now: 5_000)
        #expect(again.isEmpty)
    }

    @Test func ignoresKnownKeysAndBoundsRequests() {
        var limits = OutboxLimits()
        limits.requests = 2
        var machine = OutboxMachine(limits: limits, requests: [request("1"), request("2")], remembered: ["0"])
        #expect(machine.admission(request("1"), now: 0) == .known)
        #expect(machine.admission(request("0"), now: 0) == .known)
        #expect(machine.admission(request("3"), now: 0) == .full)
        machine.finish("1")
        #expect(machine.admission(request("1"), now: 0) == .known)
        #expect(machine.admission(request("3"), now: 0) == .added)
        #expect(machine.admission(request("4", expires: 0), now: 0) == .expired)
    }

    /// Random runs: at most one request of an order key is in flight, in order, and all of them end.
    @Test(arguments: UInt64(0)..<50) func keepsOrderInRandomRuns(seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "outbox")
        var machine = OutboxMachine(limits: OutboxLimits())
        var now: Int64 = 0
        var added: [String: [String]] = [:]
        var ended: [String: [String]] = [:]
        var inFlight: [OutboxMachine.Entry] = []
        for step in 0..<600 {
            now += Int64.random(in: 0...2_000, using: &generator)
            if step < 200 {
                let order = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
                let new = request("\(step)", order: order, expires: 1_000_000)
                if machine.admission(new, now: now) == .added {
                    machine.append(OutboxMachine.Entry(new))
                    added[order, default: []].append("\(step)")
                }
            }
            inFlight += machine.begin(now: now)
            #expect(Set(inFlight.map { $0.request.orderKey }).count == inFlight.count)
            #expect(inFlight.count <= machine.limits.inFlight)
            guard let index = inFlight.indices.randomElement(using: &generator) else { continue }
            let entry = inFlight.remove(at: index)
            let status = Int.random(in: 0..<3, using: &generator) == 0 ? 500 : 200
            let response = BotHTTPResponse(status: status, body: [])
            if case .finished = machine.ended(entry.id, .success(response), now: now, jitter: 0.5) {
                machine.finish(entry.id)
                ended[entry.request.orderKey, default: []].append(entry.id)
            }
        }
        for (order, ids) in ended { #expect(added[order]?.prefix(ids.count).elementsEqual(ids) == true) }
        #expect(machine.entries.count + ended.values.map { $0.count }.reduce(0, +) == added.values.joined().count)
        if machine.entries.isEmpty { #expect(machine.bytes == 0) }
    }

    @Test func restoresStoredRequests() {
        let http = BotHTTPRequest(
            method: "PUT", url: "https://shop.example/1", headers: [("A", "1"), ("B", "2")], body: [0, 1, 255],
            timeout: .seconds(3), maximumBytes: 77, reachesPrivateAddresses: true)
        let stored = OutboxRequest(
            http, idempotencyKey: "k", orderKey: "o", expires: UnixTime(milliseconds: 9_000))
        let bytes = OutboxRecord.encode(stored)
        #expect(OutboxRecord.request(bytes) == stored)
        for count in 0..<bytes.count { #expect(OutboxRecord.request(Array(bytes[..<count])) == nil) }
        #expect(OutboxRecord.request(bytes + [0]) == nil)
        let index = OutboxRecord.Index(records: [3, 9], remembered: ["a", "b"])
        let list = OutboxRecord.encode(index)
        #expect(OutboxRecord.index(list) == index)
        for count in 0..<list.count { #expect(OutboxRecord.index(Array(list[..<count])) == nil) }
        #expect(OutboxRecord.index([1] + [UInt8](repeating: 127, count: 8)) == nil)
    }
}
