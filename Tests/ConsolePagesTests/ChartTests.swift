import ConsoleReports
import Testing

@testable import ConsolePages

struct ChartTests {
    @Test(
        arguments: [
            [], [nil], [1], [0, 0, 0], [5, 5, 5], [.nan, 1, .infinity, -3], [1e300, 1e-300], [nil, 2, nil, 3, 4],
        ] as [[Double?]])
    func drawsFiniteNumbers(values: [Double?]) {
        let markup = Chart("Title", unit: "ms", series: [.init("one", values)], from: "1 h ago").html.markup
        #expect(!markup.contains("nan") && !markup.contains("inf"))
        for points in markup.matches(of: #/points="([^"]*)"/#) {
            for number in points.1.split(whereSeparator: { $0 == " " || $0 == "," }) {
                #expect(Double(number).map { (-1...481).contains($0) } == true, "\(number)")
            }
        }
    }

    @Test
    func gapsDivideLines() {
        let markup = Chart("T", unit: "", series: [.init("one", [1, 2, nil, 3, 4])], from: "").html.markup
        #expect(markup.matches(of: #/<polyline/#).count == 2)
    }

    @Test
    func ringKeepsTheLastHour() {
        var ring = SampleRing()
        for number in 0..<1_000 { ring.append(.init(at: Int64(number) * 15, counters: AccountCounters())) }
        #expect(ring.count == SampleRing.capacity)
        #expect(ring.newest?.at == Int64(14_985))
        #expect(ring.samples.map(\.at) == ring.samples.map(\.at).sorted())
        #expect(ring.beginning == ring.samples.first?.at)
        // Too early, and before the others: the clock was set back.
        ring.append(.init(at: 999 * 15 + 3, counters: nil))
        #expect(ring.newest?.at == Int64(14_985))
        ring.append(.init(at: 5, counters: nil))
        #expect(ring.count == 1)
        ring.append(.init(at: .max, counters: nil))
        ring.append(.init(at: .min, counters: nil))
        #expect(ring.count == 1)
    }

    @Test
    func ratesSkipRestartsAndSilence() {
        var ring = SampleRing()
        for (number, value) in [0.0, 10, nil, 30, 5].enumerated() {
            var counters = AccountCounters()
            counters.answered = value ?? 0
            ring.append(.init(at: Int64(number) * 60, counters: value == nil ? nil : counters))
        }
        #expect(ring.rates { $0.answered } == [10, nil, nil, nil])
    }
}
