import Testing

@testable import LoadReport

@Suite struct FiguresTests {
    @Test(arguments: [
        (0, "0 s"), (4e-9, "0.004 µs"), (0.000_000_85, "0.85 µs"), (0.000_85, "850 µs"), (0.000_999_9, "1 ms"),
        (0.0234, "23.4 ms"), (0.9999, "1 s"), (1.25, "1.25 s"), (99.96, "100 s"), (119.4, "119 s"), (120, "2 min"),
        (125, "2 min 5 s"), (3_600, "1 h 0 min"), (Double.infinity, "–"), (Double.nan, "–"),
    ])
    func picksSuitableTimeUnit(seconds: Double, text: String) { #expect(Figures.time(seconds) == text) }

    @Test(arguments: [
        (1, "100 %"), (0.999_999_9, "99.99999 %"), (0.9996, "99.96 %"), (0.5, "50 %"), (0.000_000_1, "0.00001 %"),
        (0, "0 %"), (0.963, "96.3 %"), (1.5, "150 %"),
    ])
    func neverRoundsPercentageToAllOrNothing(ratio: Double, text: String) {
        #expect(Figures.percent(ratio) == text)
    }

    @Test func groupsDigitsOfCounts() {
        #expect(Figures.count(0) == "0")
        #expect(Figures.count(999) == "999")
        #expect(Figures.count(1_234_567) == "1\u{202F}234\u{202F}567")
        #expect(Figures.count(-1_000) == "-1\u{202F}000")
        #expect(Figures.count(.min).hasPrefix("-9\u{202F}223"))
    }

    @Test func usesBinaryUnitsForMemory() {
        #expect(Figures.bytes(0) == "0 B")
        #expect(Figures.bytes(1_023) == "1023 B")
        #expect(Figures.bytes(1_024) == "1 KiB")
        #expect(Figures.bytes(412_876_800) == "394 MiB")
        #expect(Figures.bytes(.max) == "16777216 TiB")
    }

    @Test func omitsZeroHours() {
        #expect(Figures.clock(65.9) == "1:05")
        #expect(Figures.clock(3_725) == "1:02:05")
        #expect(Figures.clock(-1) == "0:00")
    }

    @Test func axesEndAtRoundNumbers() {
        #expect(ChartScale.linear(upTo: 563).ticks == [0, 200, 400, 600])
        #expect(ChartScale.linear(upTo: 0).ticks.count == 2)
        #expect(ChartScale.linear(upTo: 2, isWhole: true).ticks == [0, 1, 2])
        #expect(ChartScale.logarithmic(0.0127, 5.4).ticks == [0.01, 0.1, 1, 10])
        #expect(ChartScale.logarithmic(0.02, 0.02).ticks == [0.01, 0.1])
        #expect(ChartScale.time(upTo: 45.4).ticks == [0, 10, 20, 30, 40])
        #expect(ChartScale.time(upTo: 0).ticks == [0, 1])
        #expect(ChartScale.time(upTo: 1e7).ticks.count == 7)
    }

    @Test func computesEditDistance() {
        #expect(editDistance("jion", "join") == 2)
        #expect(editDistance("", "abc") == 3)
        #expect(editDistance("Delivery", "delivery") == 0)
        #expect(editDistance("order", "older") == 1)
    }

    @Test func parsesHostFacts() {
        let text = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\nmodel name\t: other\nempty\t:\n"
        #expect(HostFacts.value("model name", separator: ":", in: text) == "Intel(R) Xeon(R)")
        #expect(HostFacts.value("empty", separator: ":", in: text) == nil)
        #expect(HostFacts.value("missing", separator: ":", in: text) == nil)
        #expect(HostFacts.value("PRETTY_NAME", separator: "=", in: "PRETTY_NAME=\"Debian 12\"\n") == "Debian 12")
    }
}
