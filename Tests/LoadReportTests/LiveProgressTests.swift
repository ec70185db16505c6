import LoadReport
import Testing

@Suite struct LiveProgressTests {
    private let snapshot = LoadSnapshot(
        elapsed: 65.4, planned: 120, gauges: [.agents: 60, .groups: 6],
        operations: [
            .init(
                operation: .join, count: 54, failures: 2, recentRate: 0, p50: 0.143, p95: 0.231, p99: nil),
            .init(
                operation: .deliver, count: 123_456, failures: 0, recentRate: 180.2, p50: 0.0417, p95: 3.4712, p99: 5.1),
        ],
        correctness: {
            var counts = LoadCorrectness()
            (counts.expected, counts.delivered, counts.diverged) = (123_460, 123_456, 1)
            return counts
        }(), lag: 0.0013, faults: ["relay down \u{1B}[2Jws://a"])

    @Test func tableFitsTheTerminal() {
        #expect(
            LiveProgress.table(snapshot, width: 100) == [
                "████████████████░░░░░░░░░░░░░░ 1:05 of 2:00",
                "agents 60   groups 6   delivered 123\u{202F}456 of 123\u{202F}460   diverged 1   lag p99 1.3 ms",
                "fault: relay down \u{FFFD}[2Jws://a",
                "",
                "operation       ok  failed    now      p50     p95    p99",
                "join            54       2    0/s   143 ms  231 ms      –",
                "deliver    123\u{202F}456       0  180/s  41.7 ms  3.47 s  5.1 s",
            ])
        for width in [0, 1, 10, 40, 60] {
            #expect(LiveProgress.table(snapshot, width: width).allSatisfy { $0.count <= width })
        }
        #expect(LiveProgress.table(snapshot, width: 40)[1] == "agents 60   groups 6   delivered 123\u{202F}45…")
    }

    @Test func formatsOneLogLine() {
        #expect(
            LiveProgress.line(snapshot)
                == "1:05 of 2:00, agents 60, groups 6, delivered 123\u{202F}456 of 123\u{202F}460, diverged 1, "
                + "lag p99 1.3 ms, join 0/s p95 231 ms, deliver 180/s p95 3.47 s, failures 2, "
                + "fault: relay down \u{FFFD}[2Jws://a")
    }

    @Test func showsRunWithoutData() {
        let empty = LoadRecorder().snapshot(at: .zero)
        #expect(LiveProgress.table(empty, width: 80) == ["0:00", ""])
        #expect(LiveProgress.line(empty) == "0:00, failures 0")
    }

    @Test func rateCoversTheLastSeconds() throws {
        let recorder = LoadRecorder()
        for number in 0..<100 {
            let start = Duration.milliseconds(number * 100)
            recorder.success(.send, from: start, to: start + .milliseconds(1))
        }
        recorder.injected(LoadFault(from: .seconds(9), to: .seconds(11), action: "relay down", target: "a"))
        recorder.injected(LoadFault(from: .seconds(11), to: .seconds(12), action: "relay down", target: "b"))
        func rate(at seconds: Double) throws -> Double {
            try #require(recorder.snapshot(at: .seconds(seconds)).operations.first).recentRate
        }
        #expect(try rate(at: 10) == 10)
        #expect(try rate(at: 12.9) == 6)
        #expect(try rate(at: 30) == 0)
        #expect(recorder.snapshot(at: .seconds(10)).faults == ["relay down a"])
        #expect(recorder.snapshot(at: .seconds(10), planned: .seconds(20)).planned == 20)
    }
}
