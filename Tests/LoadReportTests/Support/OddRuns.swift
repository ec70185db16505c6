import LiveTesting
import LoadReport

/// A run in which every text attempts injection.
enum HostileRun {
    static let text =
        "<script>alert(\"1\")</script>, 'a' & b ]]> \u{1B}[31mred\u{7} \u{202E}esrever\nnext\tline \\ =1+1 "
        + "\"\u{301} ,\u{301}"

    static func result() throws -> LoadResult {
        let recorder = LoadRecorder()
        recorder.success(.send, from: .seconds(1), to: .milliseconds(1_020))
        recorder.failure(.send, reason: text, at: .seconds(2))
        recorder.reached(.planned, count: 2)
        recorder.reached(.keyPackage)
        recorder.lost(before: .keyPackage, reason: text, at: .seconds(2))
        recorder.exception(text, at: .seconds(2))
        recorder.injected(LoadFault(from: .seconds(1), to: .seconds(2), action: text, target: text))
        recorder.gauge(.agents, 2, at: .seconds(1))
        let host = HostFacts(
            name: text, processor: text, processors: 1, memoryBytes: 1, system: text, kernel: text, compiler: text,
            build: text)
        let run = LoadRun(
            name: text, seed: .max, plan: text, startedAt: SyntheticRun.start,
            environment: LoadEnvironment(host: host, software: text, store: text, relays: [text, text], notes: [text]),
            stages: [LoadStage(name: text, from: .zero, to: .seconds(3))])
        let usage = ProcessUsage(userSeconds: 0.1, systemSeconds: 0, peakMemoryBytes: 1_000_000)
        return recorder.result(
            run, cost: usage, at: .seconds(3), thresholds: try LoadThreshold.all(["send.max": "< 1ms"]))
    }
}

/// A run without any records.
enum EmptyRun {
    static func result(thresholds: [LoadThreshold] = []) -> LoadResult {
        LoadRecorder().result(
            SyntheticRun.facts, cost: ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0), at: .zero,
            thresholds: thresholds)
    }
}

/// A run of four hours with a fault every few minutes: coarse slots, crowded labels.
enum LongRun {
    static func result() -> LoadResult { made }

    private static let made = make()

    private static func make() -> LoadResult {
        let recorder = LoadRecorder()
        var random = SplitMix64(seed: 11)
        for second in 0..<14_400 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let took = Duration.microseconds(Int.random(in: 800...90_000, using: &random))
                recorder.success(.deliver, from: .seconds(second), to: .seconds(second) + took)
                recorder.expectDeliveries(1, at: .seconds(second))
                recorder.delivered(.inOrder, at: .seconds(second))
            }
            if second % 60 == 0 { recorder.gauge(.agents, Double(400 + second % 7), at: .seconds(second)) }
        }
        for number in 0..<14 {
            recorder.injected(
                LoadFault(
                    from: .seconds(600 + number * (number % 3 == 0 ? 1_000 : 990)), to: .seconds(700 + number * 1_000),
                    action: "relay slow", target: "wss://relay.example"))
        }
        return recorder.result(
            SyntheticRun.facts, cost: ProcessUsage(userSeconds: 900, systemSeconds: 60, peakMemoryBytes: 900_000_000),
            at: .seconds(14_400))
    }
}
