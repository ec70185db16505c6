import LoadReport
import Testing

@Suite struct ThresholdTests {
    @Test(arguments: [
        ("join.p95", "< 3s", 3, ThresholdUnit.seconds), ("deliver.p99", "< 2s", 2, .seconds),
        ("delivery", ">= 0.999", 0.999, .ratio), ("order", ">= 99.9%", 0.999, .ratio),
        ("divergence", "== 0", 0, .count), ("send.p99.9", "<= 250ms", 0.25, .seconds),
        ("send.p99.99", "<250us", 0.000_25, .seconds), ("deliver.max", "  <  1.5 s ", 1.5, .seconds),
        ("deliver.mean", "< 2min", 120, .seconds), ("coldSync.min", "> 0ms", 0, .seconds),
        ("send.count", ">= 1000", 1_000, .count), ("join.failures", "== 0", 0, .count),
        ("send.rate", ">= 20/s", 20, .perSecond), ("remove.rate", ">= 30/min", 0.5, .perSecond),
        ("send.rate", "> 5", 5, .perSecond), ("duplicates", "<= 0.1%", 0.001, .ratio),
        ("joins", "== 1", 1, .ratio), ("conflicts", "!= 3", 3, .count), ("lag.p99", "<= 50ms", 0.05, .seconds),
        ("lag.max", "< 1h", 3_600, .seconds), ("firstMessage.p50", "< 1µs", 1e-6, .seconds),
    ])
    func parsesThresholds(key: String, condition: String, bound: Double, unit: ThresholdUnit) throws {
        let threshold = try LoadThreshold(key: key, condition: condition)
        #expect(abs(threshold.bound - bound) < 1e-12)
        #expect(threshold.key.name == key)
        #expect(threshold.judge(EmptyRun.result()).unit == unit)
    }

    @Test(arguments: [
        ("jion.p95", "< 3s", LoadReportError.Code.unknownKey, "did you mean \"join.p95\"?"),
        ("join", "< 3s", .unknownKey, "unknown threshold \"join\""),
        ("join.p97", "< 3s", .unknownKey, "an operation and a statistic of it (join.p95)"),
        ("lag.rate", "< 3s", .unknownKey, "did you mean \"lag."),
        ("Delivery", ">= 0.9", .unknownKey, "did you mean \"delivery\"?"),
        ("", "< 1", .unknownKey, "unknown threshold \"\""),
        ("join.p95", "< 3", .wrongUnit, "expected a time with its unit (250ms, 3s, 2min), found \"3\"; write \"< 3s\""),
        ("join.p95", "3s", .badCondition, "expected one of <, <=, >, >=, ==, != and a value, found none"),
        ("join.p95", "= 3s", .badCondition, "found =; write \"< 3s\""),
        ("join.p95", "=< 3s", .badCondition, "found =<"),
        ("join.p95", "<", .badCondition, "found \"\"; write \"< 3s\""),
        ("join.p95", "< soon", .badCondition, "found \"soon\""),
        ("join.p95", "< 1e99s", .wrongUnit, "found \"1e99s\""),
        ("join.p95", "< -1s", .badCondition, "found \"-1s\""),
        ("join.p95", "< 3 parsecs", .wrongUnit, "found \"3 parsecs\""),
        (
            "delivery", ">= 99.9", .wrongUnit,
            "expected a ratio from 0 to 1, or a percentage (0.999, 99.9%), found \"99.9\"; write \">= 99.9%\""
        ),
        ("delivery", ">= 3s", .wrongUnit, "found \"3s\""),
        ("delivery", ">= 101%", .wrongUnit, "found \"101%\""),
        ("divergence", "== 0.5", .wrongUnit, "expected a whole number (0, 25), found \"0.5\""),
        ("divergence", "== none", .badCondition, "write \"== 0\""),
        ("send.rate", "> 5ms", .wrongUnit, "expected a rate (20/s, 30/min), found \"5ms\"; write \"> 5/s\""),
    ])
    func explainsInvalidThresholds(key: String, condition: String, code: LoadReportError.Code, part: String) {
        let error = #expect(throws: LoadReportError.self) { try LoadThreshold(key: key, condition: condition) }
        #expect(error?.code == code)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func reportsEveryInvalidThreshold() {
        let error = #expect(throws: LoadReportError.self) {
            try LoadThreshold.all(["a": "< 1", "join.p95": "< 3s", "order": "< 9"])
        }
        let lines = error?.message.split(separator: "\n") ?? []
        #expect(lines.count == 2)
        #expect(lines.last?.hasPrefix("order: \"< 9\": expected a ratio") == true)
    }

    @Test func unmeasuredThresholdFails() throws {
        let result = EmptyRun.result()
        for (key, condition, found) in [
            ("join.p95", "< 3s", "never measured: join was not attempted"),
            ("join.failures", "== 0", "never measured: join was not attempted"),
            ("delivery", ">= 0", "never measured: no delivery was expected"),
            ("order", ">= 0", "never measured: no message was delivered"),
            ("duplicates", "== 0", "never measured: no message was delivered"),
            ("divergence", "== 0", "never measured: no member was compared with its group"),
            ("joins", ">= 0", "never measured: no join was planned"),
            ("conflicts", "== 0", "never measured: no commit was made"),
            ("lag.p99", "< 1s", "never measured: no operation had an intended start"),
        ] {
            let outcome = try LoadThreshold(key: key, condition: condition).judge(result)
            #expect(!outcome.passed)
            #expect(outcome.value == nil)
            #expect(outcome.found == found)
        }
        #expect(try LoadThreshold(key: "join.count", condition: "== 0").judge(result).passed)
        #expect(try LoadThreshold(key: "join.rate", condition: "== 0").judge(result).passed)
    }

    @Test func conflictsAreMeasuredAfterACommit() throws {
        let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
        let threshold = try LoadThreshold(key: "conflicts", condition: "== 0")
        let recorder = LoadRecorder()
        func judged() -> ThresholdOutcome {
            threshold.judge(recorder.result(SyntheticRun.facts, cost: usage, at: .seconds(2)))
        }
        // A new group has no other committers yet.
        recorder.success(.createGroup, from: .zero, to: .seconds(1))
        recorder.failure(.add, reason: "refused", at: .seconds(1))
        #expect(judged().found == "never measured: no commit was made")
        recorder.success(.add, from: .zero, to: .seconds(1))
        #expect(judged().passed)
        recorder.conflict()
        #expect(judged().value == 1)
    }

    @Test func failuresAloneGiveNoLatency() throws {
        let recorder = LoadRecorder()
        recorder.failure(.join, reason: "refused", at: .seconds(1))
        let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
        let thresholds = try LoadThreshold.all(["join.p95": "< 3s", "join.failures": "<= 1"])
        let result = recorder.result(SyntheticRun.facts, cost: usage, at: .seconds(2), thresholds: thresholds)
        #expect(result.thresholds.map(\.passed) == [true, false])
        #expect(result.thresholds[1].found == "never measured: join never succeeded, 1 failed")
        #expect(!result.passed)
    }

    @Test(arguments: [
        ("<", [true, false, false]), ("<=", [true, true, false]), (">", [false, false, true]),
        (">=", [false, true, true]), ("==", [false, true, false]), ("!=", [true, false, true]),
    ])
    func comparesAtTheBoundary(sign: String, holds: [Bool]) throws {
        for (count, expected) in zip([4, 5, 6], holds) {
            let recorder = LoadRecorder()
            for _ in 0..<count { recorder.success(.send, from: .zero, to: .milliseconds(1)) }
            let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
            let result = recorder.result(SyntheticRun.facts, cost: usage, at: .seconds(1))
            #expect(try LoadThreshold(key: "send.count", condition: sign + " 5").judge(result).passed == expected)
        }
    }

    @Test func equalityToleratesRounding() throws {
        let recorder = LoadRecorder()
        recorder.expectDeliveries(1_000, at: .zero)
        for _ in 0..<999 { recorder.delivered(.inOrder, at: .zero) }
        recorder.success(.send, from: .zero, to: .milliseconds(35))
        let usage = ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)
        let result = recorder.result(SyntheticRun.facts, cost: usage, at: .seconds(60))
        for (key, condition) in [
            ("delivery", "== 99.9%"), ("delivery", ">= 0.999"), ("send.max", "== 35ms"), ("send.max", "== 0.035s"),
            ("send.p99", "<= 35000us"), ("send.rate", "== 1/min"), ("send.rate", ">= 60/h"),
        ] { #expect(try LoadThreshold(key: key, condition: condition).judge(result).passed, "\(key) \(condition)") }
    }

    @Test func runPassesIfAllThresholdsHold() throws {
        let result = try SyntheticRun.result()
        #expect(result.thresholds.map(\.key) == SyntheticRun.standardThresholds.keys.sorted())
        #expect(result.thresholds.filter { !$0.passed }.map(\.key) == ["deliver.p99"])
        #expect(!result.passed)
        #expect(try SyntheticRun.result(thresholds: ["deliver.p99": "< 10s"]).passed)
        #expect(EmptyRun.result().passed)
    }

    @Test func operationNamesAreUniqueAndStable() {
        let names = LoadOperation.allCases.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(LoadOperation.allCases.allSatisfy { LoadOperation(name: $0.name) == $0 })
        #expect(LoadOperation(name: "joins") == nil)
        #expect(LoadOperation.allCases.enumerated().allSatisfy { $0.offset == $0.element.rawValue })
        #expect(Set(ThresholdKey.all.map(\.name)).count == ThresholdKey.all.count)
    }
}
