import LoadReport

/// A run small enough to compare its reports verbatim; its texts need every kind of escaping.
enum SmallRun {
    static func result() throws -> LoadResult {
        let recorder = LoadRecorder()
        for number in 1...4 {
            recorder.success(.send, from: .seconds(number), to: .seconds(number) + .milliseconds(number * 10))
            recorder.expectDeliveries(1, at: .seconds(number))
        }
        for _ in 0..<3 { recorder.delivered(.inOrder, at: .seconds(4)) }
        recorder.failure(.send, reason: "refused: \"a\", <b> & 'c' ]]>\u{1}", at: .milliseconds(4_500))
        recorder.failure(.join, reason: "lost,\nnever found", at: .seconds(2))
        recorder.exception("odd = \"1\"", at: .seconds(1))
        // Quotation marks and commas as scalars, but not as Swift characters.
        recorder.exception("odd \"\u{301}", at: .seconds(1))
        recorder.exception("odd ,\u{301}", at: .seconds(1))
        recorder.gauge(.agents, 3, at: .seconds(1))
        recorder.gauge(.agents, 2, at: .seconds(3))
        recorder.injected(LoadFault(from: .seconds(2), to: .seconds(3), action: "relay down", target: "<ws://a>"))
        let host = HostFacts(
            name: "a\"b", processor: "cpu\\1\n2", processors: 2, memoryBytes: 1 << 30, system: "Linux", kernel: "6",
            compiler: "Swift 6.3", build: "debug")
        let run = LoadRun(
            name: "small & \"odd\" <run>", seed: 7, plan: "a: <b>", startedAt: SyntheticRun.start,
            environment: LoadEnvironment(host: host, software: "pikabot 1", store: "memory", relays: ["ws://a,b"]),
            stages: [LoadStage(name: "all", from: .zero, to: .seconds(5))])
        return recorder.result(
            run, cost: ProcessUsage(userSeconds: 2, systemSeconds: 0.5, peakMemoryBytes: 100 << 20), at: .seconds(5),
            thresholds: try LoadThreshold.all(["send.p95": "< 20ms", "delivery": ">= 70%", "join.p95": "< 1s"]))
    }
}
