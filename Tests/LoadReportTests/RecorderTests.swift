import Foundation
import LoadReport
import Synchronization
import Testing

@Suite struct RecorderTests {
    private let recorder = LoadRecorder()

    private func result(at seconds: Double = 10) -> LoadResult {
        recorder.result(
            SyntheticRun.facts, cost: ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0),
            at: .seconds(seconds))
    }

    @Test func countsRecordsOfManyThreads() throws {
        let (threads, each) = (8, 20_000)
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for number in 0..<each {
                let start = Duration.microseconds(number * 400)
                recorder.success(.deliver, from: start, to: start + .microseconds(thread * 1_000 + 500))
                recorder.delivered(.inOrder, at: start)
                if number % 10 == 0 { recorder.failure(.send, reason: "reason \(thread)", at: start) }
                if number % 100 == 0 { recorder.gauge(.agents, Double(thread), at: start) }
            }
        }
        let found = result()
        let deliver = try #require(found.operation(.deliver))
        #expect(deliver.count == 160_000)
        #expect(deliver.latency?.samples == 160_000)
        #expect(deliver.latency?.min == 0.0005)
        #expect(deliver.latency?.max == 0.0075)
        #expect(deliver.latency?.mean == 0.004)
        #expect(found.correctness.delivered == 160_000)
        #expect(found.series.operations.first { $0.name == "deliver" }?.count.reduce(0, +) == 160_000)
        let send = try #require(found.operation(.send))
        #expect(send.failures == 16_000)
        #expect(send.failureReasons.map(\.count) == [Int](repeating: 2_000, count: 8))
        #expect(send.latency == nil)
    }

    /// Ten operations due at 0, 100, … 900 ms: the first lasts a second, so the others wait, and last 10 ms each.
    @Test func latencyIncludesWaitForStart() throws {
        var free = Duration.zero
        for number in 0..<10 {
            let intended = Duration.milliseconds(number * 100)
            let start = max(intended, free)
            free = start + .milliseconds(number == 0 ? 1_000 : 10)
            recorder.started(intended: intended, actual: start)
            recorder.success(.send, from: start, to: free, intended: intended)
        }
        let send = try #require(result().operation(.send))
        let (latency, service) = (try #require(send.latency), try #require(send.service))
        // 1000, 910, 820, … 190: nine of them 90 ms apart.
        #expect(latency.min == 0.190)
        #expect(latency.max == 1.0)
        #expect(latency.mean == 0.595)
        #expect(near(latency.percentiles[.p50], 0.550))
        #expect(near(latency.percentiles[.p90], 0.910))
        #expect(service.min == 0.010)
        #expect(service.max == 1.0)
        #expect(service.mean == 0.109)
        #expect(near(service.percentiles[.p90], 0.010))
        let lag = try #require(result().generator.lag)
        // 0, then 900, 810, … 180 ms late.
        #expect(lag.samples == 10)
        #expect(lag.min == 0)
        #expect(lag.max == 0.9)
        #expect(lag.mean == 0.486)
    }

    @Test func earlyStartGivesNoNegativeWait() throws {
        recorder.success(.send, from: .seconds(1), to: .seconds(2), intended: .seconds(3))
        recorder.started(intended: .seconds(3), actual: .seconds(1))
        #expect(result().operation(.send)?.latency?.max == 1)
        #expect(result().generator.lag?.max == 0)
    }

    @Test func earlySuccessesCountAsLatencyAndService() throws {
        recorder.success(.send, from: .zero, to: .milliseconds(10))
        #expect(result().operation(.send)?.service == nil)
        recorder.success(.send, from: .milliseconds(100), to: .milliseconds(110), intended: .milliseconds(50))
        let send = try #require(result().operation(.send))
        #expect(send.service?.samples == 2)
        #expect(send.service?.max == 0.010)
        #expect(send.latency?.max == 0.060)
    }

    /// A user who acts every 10 ms (1 ms latency, 9 ms think time) and once waits 100 ms would have waited 90, 80,
    /// … 10 ms meanwhile. Measured values stay unchanged.
    @Test func fillsInMissingValuesOfClosedUsers() throws {
        for number in 0..<100 {
            let start = Duration.milliseconds(number * 10)
            let took = Duration.milliseconds(number == 50 ? 100 : 1)
            recorder.success(.send, from: start, to: start + took, thinking: .milliseconds(9))
        }
        let send = try #require(result().operation(.send))
        #expect(send.count == 100)
        let latency = try #require(send.latency)
        #expect(latency.samples == 100)
        #expect((latency.min, latency.max, latency.sum) == (0.001, 0.1, 0.199))
        #expect(near(latency.mean, 0.199 / 100))
        #expect(latency.buckets == [Int](repeating: 99, count: 6) + [Int](repeating: 100, count: 9))
        // Of 109: 99 of 1 ms, then 10, 20, 30, 40, 50 …
        #expect(near(latency.percentiles[.p95], 0.050))
        #expect(send.service?.samples == 100)
        #expect(near(send.service?.percentiles[.p95], 0.001))
    }

    /// Constant latency suppresses no operations.
    @Test func constantLatencyNeedsNoCorrection() throws {
        for number in 0..<100 {
            let start = Duration.milliseconds(number * 110)
            recorder.success(.send, from: start, to: start + .milliseconds(100), thinking: .milliseconds(10))
        }
        let send = try #require(result().operation(.send))
        #expect(LoadPercentile.allCases.allSatisfy { near(send.latency?.percentiles[$0], 0.1) })
        #expect(send.latency == send.service)
    }

    @Test func correctsEachThinkTimeSeparately() throws {
        for number in 0..<99 {
            let start = Duration.milliseconds(number * 10)
            recorder.success(.send, from: start, to: start + .milliseconds(1), thinking: .milliseconds(9))
            recorder.success(.send, from: start, to: start + .milliseconds(50), thinking: .milliseconds(50))
        }
        recorder.success(.send, from: .zero, to: .milliseconds(100), thinking: .milliseconds(50))
        let send = try #require(result().operation(.send))
        // 100 ms is one interval of users who think for 50 ms, so nothing is filled in: half the values are 1, half 50.
        #expect(near(send.latency?.percentiles[.p25], 0.001))
        #expect(near(send.latency?.percentiles[.p98], 0.05))
        #expect(send.latency?.percentiles == send.service?.percentiles)
    }

    @Test func boundsFilledInValues() throws {
        for _ in 0..<3 { recorder.success(.send, from: .zero, to: .nanoseconds(1), thinking: .nanoseconds(1)) }
        recorder.success(.send, from: .zero, to: .seconds(3_600), thinking: .nanoseconds(1))
        let latency = try #require(result().operation(.send)?.latency)
        #expect(latency.samples == 4)
        #expect((1_750...1_850).contains(latency.percentiles[.p50] ?? 0))
    }

    @Test func ratesCoverTheStagesOnly() {
        for number in 0..<40 { recorder.success(.send, from: .seconds(number), to: .seconds(number)) }
        let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
        let found = recorder.result(SyntheticRun.facts, cost: usage, at: .seconds(40), loaded: .seconds(2))
        #expect(found.operation(.send)?.rate == 20)
        #expect(found.duration == 40)
        #expect(result(at: 40).operation(.send)?.rate == 1)
    }

    @Test func recordsActualEndOfFault() {
        let first = recorder.injected(LoadFault(from: .seconds(1), to: .seconds(5), action: "down", target: "a"))
        let second = recorder.injected(LoadFault(from: .seconds(1), to: .seconds(5), action: "down", target: "b"))
        recorder.ended(fault: second, at: .seconds(2))
        #expect(recorder.snapshot(at: .seconds(3)).faults == ["down a"])
        recorder.ended(fault: first, at: .seconds(6))
        recorder.ended(fault: 2, at: .seconds(7))
        #expect(result().faults.map(\.to) == [6, 2])
    }

    @Test func boundsReasonsInNumberAndLength() throws {
        for number in 0..<100 { recorder.failure(.join, reason: "reason \(number)", at: .seconds(number)) }
        recorder.failure(.add, reason: String(repeating: "a\u{301}", count: 10_000), at: .zero)
        recorder.failure(.add, reason: "", at: .zero)
        let reasons = try #require(result().operation(.join)?.failureReasons)
        #expect(reasons.count == 33)
        #expect(reasons.first?.reason == "other")
        #expect(reasons.first?.count == 68)
        #expect(reasons.first?.firstSeen == SyntheticRun.start.advanced(by: .seconds(32)))
        #expect(reasons.first?.lastSeen == SyntheticRun.start.advanced(by: .seconds(99)))
        let lengths = try #require(result().operation(.add)).failureReasons.map(\.reason.unicodeScalars.count)
        #expect(lengths.sorted() == [7, 160])
    }

    @Test func clampsImpossibleTimes() throws {
        recorder.success(.send, from: .seconds(5), to: .seconds(-5))
        recorder.success(.send, from: .seconds(Int64.min / 2), to: .seconds(Int64.max / 2))
        recorder.gauge(.agents, .nan, at: .zero)
        recorder.gauge(.groups, .infinity, at: .zero)
        let found = result()
        #expect(found.operation(.send)?.latency?.min == 0)
        #expect(found.operation(.send)?.latency?.max == 2_592_000)
        #expect(found.gauges.isEmpty)
        #expect(found.series.length <= 600)
        #expect(try LoadResult(json: found.json()) == found)
    }

    @Test func funnelReportsLossesByStage() {
        recorder.reached(.planned, count: 3)
        recorder.reached(.keyPackage, count: 2)
        recorder.lost(before: .keyPackage, reason: "none found", at: .seconds(1))
        recorder.reached(.joined)
        let funnel = result().funnel
        #expect(funnel.stages.map(\.count) == [3, 2, 0, 0, 1, 0])
        #expect(funnel.stages[1].lost.map(\.reason) == ["none found"])
        #expect(funnel.joinRatio == 1.0 / 3)
    }

    @Test func computesDeliveryRatios() {
        #expect(result().correctness.deliveryRatio == nil)
        recorder.expectDeliveries(10, at: .seconds(1))
        recorder.excuseDeliveries(2, at: .seconds(2))
        for _ in 0..<5 { recorder.delivered(.inOrder, at: .seconds(3)) }
        recorder.delivered(.outOfOrder, at: .seconds(3))
        for _ in 0..<3 { recorder.delivered(.duplicate, at: .seconds(4)) }
        recorder.compared(diverged: true)
        recorder.compared(diverged: false)
        recorder.conflict()
        let found = result()
        #expect(found.correctness.deliveryRatio == 0.75)
        #expect(found.correctness.orderRatio == 5.0 / 6)
        #expect(found.correctness.duplicateRatio == 0.5)
        #expect(found.correctness.divergenceRatio == 0.5)
        #expect(found.correctness.excused == 2)
        #expect(found.correctness.conflicts == 1)
        #expect(found.series.expected == [0, 10, -2, 0])
        #expect(found.series.delivered == [0, 0, 0, 6])
    }

    @Test func readsHostAndProcessFacts() throws {
        let host = HostFacts.current()
        #expect(host.processors > 0)
        #expect(host.memoryBytes > 1 << 20)
        #expect(!host.kernel.isEmpty && !host.system.isEmpty && !host.processor.isEmpty)
        let usage = try #require(ProcessUsage.current())
        #expect(usage.peakMemoryBytes > 1 << 20)
        #expect(usage.since(usage).userSeconds == 0)
    }
}

/// Compares to three significant digits, the precision of histograms.
func near(_ value: Double?, _ expected: Double) -> Bool {
    value.map { abs($0 - expected) <= expected * 0.0011 } ?? false
}
