import Histogram
import LiveTesting
import Testing

@testable import LoadReport

@Suite struct SeriesTests {
    private struct Sum: TimeSlot, Equatable {
        var value = 0
        mutating func merge(_ later: Sum) { value += later.value }
    }

    @Test func coarsensLongSeries() {
        var slots = TimeSlots<Sum>(capacity: 4)
        for second in 0..<4 { slots.update(at: UInt64(second) * 1_000_000_000) { $0.value += second + 1 } }
        #expect(slots.width == 1)
        #expect(slots.slots.map(\.value) == [1, 2, 3, 4])
        slots.update(at: 4_999_999_999) { $0.value += 5 }
        #expect(slots.width == 2)
        #expect(slots.slots.map(\.value) == [3, 7, 5])
        slots.update(at: 0) { $0.value += 10 }
        #expect(slots.slots.map(\.value) == [13, 7, 5])
        slots.update(at: 1_000_000_000_000) { $0.value += 1 }
        #expect(slots.width == 256)
        #expect(slots.slots.map(\.value) == [25, 0, 0, 1])
        #expect(slots.coarsened(to: 512).map(\.value) == [25, 1])
    }

    @Test func operationsShareOneSlotWidth() throws {
        let recorder = LoadRecorder(.init(slots: 10))
        recorder.success(.send, from: .zero, to: .milliseconds(500))
        recorder.success(.send, from: .seconds(3), to: .milliseconds(3_250))
        recorder.success(.deliver, from: .seconds(35), to: .milliseconds(35_100))
        recorder.gauge(.agents, 7, at: .seconds(5))
        recorder.gauge(.agents, 9, at: .seconds(6))
        let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
        let series = recorder.result(SyntheticRun.facts, cost: usage, at: .seconds(36)).series
        #expect(series.interval == 4)
        #expect(series.length == 9)
        let send = try #require(series.operations.first { $0.name == "send" })
        #expect(send.count == [2, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(near(send.p50[0], 0.25, within: 0.01))
        #expect(send.p99[0] == 0.5)
        #expect(send.p99[1] == nil)
        #expect(series.gauges[.agents] == [nil, 9] + [Double?](repeating: nil, count: 7))
        #expect(series.aggregate[0].count == 2)
        #expect(series.aggregate[8].count == 3)
        #expect(series.aggregate[8].min == 0.1)
        #expect(series.aggregate[8].max == 0.5)
        #expect(near(series.aggregate[8].mean, 0.85 / 3, within: 1e-6))
    }

    @Test func placesLateRecordsInTheirSlots() {
        let recorder = LoadRecorder()
        recorder.success(.send, from: .seconds(8), to: .seconds(9))
        recorder.success(.send, from: .seconds(2), to: .seconds(3))
        let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
        let series = recorder.result(SyntheticRun.facts, cost: usage, at: .seconds(10)).series
        #expect(series.operations[0].count == [0, 0, 0, 1, 0, 0, 0, 0, 0, 1])
    }

    @Test func percentilesMatchSortedValues() {
        for (seed, largest) in [(1, 50), (2, 5_000), (3, 400_000), (4, 90_000_000)] as [(UInt64, UInt64)] {
            var random = SplitMix64(seed: seed)
            let values = (0..<5_000).map { _ in UInt64.random(in: 1...largest, using: &random) }
            var (tally, compact) = (LatencyTally(), CompactCounts())
            for value in values {
                tally.record(value * 1_000)
                compact.add(value)
            }
            let sorted = values.sorted()
            for percentile in LoadPercentile.allCases {
                let index = Int((percentile.percent / 100 * Double(values.count)).rounded(.up)) - 1
                let expected = Double(sorted[max(0, index)])
                #expect(near(tally.percentile(percentile.percent).map { Double($0) / 1_000 }, expected, within: 0.001))
                #expect(near(compact.percentile(percentile.percent).map { Double($0) }, expected, within: 0.008))
            }
            #expect(tally.minimum == sorted[0] * 1_000)
            #expect(tally.maximum == sorted[4_999] * 1_000)
            #expect(tally.samples == 5_000)
        }
    }

    @Test func correctionMatchesHdrHistogram() {
        for (value, interval) in [(100, 10), (105, 10), (9, 10), (10, 10), (19, 10), (20, 10), (2_000, 7)]
            as [(UInt64, UInt64)]
        {
            var (tally, histogram) = (LatencyTally(), Histogram<UInt64>(numberOfSignificantValueDigits: .three))
            // One microsecond of latency; the rest of the interval is think time.
            for found in [1, 1, value] {
                tally.record(found * 1_000)
                histogram.recordCorrectedValue(found, expectedInterval: interval)
            }
            let filled = tally.fillingIn([(interval - 1) * 1_000: tally])
            #expect(filled.histogram == histogram)
            #expect((filled.minimum, filled.maximum) == (tally.minimum, tally.maximum))
        }
    }

    @Test func mergingKeepsAllCounts() {
        var random = SplitMix64(seed: 5)
        var (all, first, second) = (CompactCounts(), CompactCounts(), CompactCounts())
        for number in 0..<2_000 {
            let value = UInt64.random(in: 0...UInt64.max >> UInt64(number % 60), using: &random)
            all.add(value)
            if number % 3 == 0 { first.add(value) } else { second.add(value) }
        }
        var merged = CompactCounts()
        merged.merge(first)
        merged.merge(second)
        #expect(merged == all)
        #expect(merged.total == 2_000)
    }

    @Test func keysSortLikeValues() {
        var last: UInt16 = 0
        for value in [0, 1, 127, 128, 129, 130, 255, 256, 1_000, 1 << 20, 1 << 40, UInt64.max] as [UInt64] {
            let key = CompactCounts.key(value)
            #expect(key >= last)
            let middle = Double(CompactCounts.middle(key))
            #expect(abs(middle - Double(value)) <= Double(value) / 127)
            last = key
        }
    }

    @Test func bucketsAreCumulative() throws {
        var tally = LatencyTally()
        for milliseconds in [1, 2, 3, 40, 900, 70_000] as [UInt64] { tally.record(milliseconds * 1_000_000) }
        let summary = try #require(LatencySummary(tally))
        #expect(summary.buckets == [1, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5])
        #expect(summary.sum == 70.946)
    }

    private func near(_ value: Double?, _ expected: Double, within share: Double) -> Bool {
        value.map { abs($0 - expected) <= max(expected * share, 0.5e-9) } ?? false
    }
}
