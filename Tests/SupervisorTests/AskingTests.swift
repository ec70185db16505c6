import Foundation
import LiveTesting
import Supervisor
import Testing

/// Answers `double` with twice its value and `refuse` with an error; exits on `die`, and ignores `mute`.
private let oracle = #"""
    import json, sys
    print('{"status":"ready"}', flush=True)
    for line in sys.stdin:
        ask = json.loads(line)
        answer = {"answer": ask["id"]}
        if ask["ask"] == "double": answer["result"] = {"value": ask["value"] * 2}
        elif ask["ask"] == "refuse": answer["error"] = "not today"
        elif ask["ask"] == "die": sys.exit(3)
        else: continue
        print(json.dumps(answer), flush=True)
    """#

func python(_ name: String, _ script: String, _ restart: WorkerSpecification.Restart = .permanent)
    -> WorkerSpecification
{
    WorkerSpecification(name: name, executable: "/usr/bin/env", arguments: ["python3", "-c", script], restart: restart)
}

@Suite(.live)
struct AskingTests {
    private func ask(
        _ supervisor: Supervisor<some Clock>, _ ask: String, _ parameters: [String: ControlValue] = [:],
        of worker: String = "w"
    ) async -> Result<ControlValue?, SupervisorError> {
        do throws(SupervisorError) {
            return .success(ControlValue(json: try await supervisor.ask(worker, ask, parameters)))
        } catch { return .failure(error) }
    }

    @Test func matchesConcurrentAnswersByID() async throws {
        let harness = try Harness([python("w", oracle)], quick, clock: ContinuousClock())
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        await withTaskGroup { group in
            for number in 0..<60 {
                group.addTask {
                    let answer = await ask(harness.supervisor, "double", ["value": .integer(Int64(number))])
                    #expect(answer == .success(["value": .integer(Int64(2 * number))]))
                }
            }
        }
        #expect(await ask(harness.supervisor, "double", ["value": 4]) == .success(["value": 8]))
        harness.supervisor.drain()
        try await run
    }

    @Test func refusalsAndUnknownWorkersAreErrors() async throws {
        let harness = try Harness([python("w", oracle)], quick, clock: ContinuousClock())
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        #expect(await ask(harness.supervisor, "refuse") == .failure(SupervisorError(.refused, "not today")))
        #expect(
            await ask(harness.supervisor, "double", of: "x")
                == .failure(SupervisorError(.unknownWorker, "unknown account x; known accounts: w")))
        harness.supervisor.drain()
        try await run
        #expect(await ask(harness.supervisor, "double") == .failure(SupervisorError(.notRunning, "w is not running")))
    }

    @Test func workerDeathFailsItsQuestions() async throws {
        let harness = try Harness([python("w", oracle, .temporary)], quick, clock: ContinuousClock())
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        async let silent = ask(harness.supervisor, "mute")
        async let deadly = ask(harness.supervisor, "die")
        let expected = SupervisorError(.noAnswer, "w ended before it answered")
        // The second question may come too late.
        let late = SupervisorError(.notRunning, "w is not running")
        for answer in await [silent, deadly] {
            #expect(answer == .failure(expected) || answer == .failure(late))
        }
        try await run
    }

    @Test func deadlineUsesClock() async throws {
        let clock = ManualClock()
        let harness = try Harness([python("w", oracle)], quick, clock: clock)
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        async let answer = ask(harness.supervisor, "mute")
        #expect(await clock.nextSleep() == .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(await answer == .failure(SupervisorError(.noAnswer, "w did not answer within 10.0 seconds")))
        // Late and foreign answers are ignored.
        #expect(await ask(harness.supervisor, "double", ["value": 1]) == .success(["value": 2]))
        harness.supervisor.drain()
        try await run
    }

    @Test func cancelledAskerStopsWaiting() async throws {
        let harness = try Harness([python("w", oracle)], quick, clock: ManualClock())
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        let answer = await withTaskGroup(of: Result<ControlValue?, SupervisorError>.self) { group in
            group.addTask { await ask(harness.supervisor, "mute") }
            group.cancelAll()
            return await group.next()
        }
        #expect(answer == .failure(SupervisorError(.noAnswer, "the request was cancelled")))
        #expect(await ask(harness.supervisor, "double", ["value": 1]) == .success(["value": 2]))
        harness.supervisor.drain()
        try await run
    }

    @Test func stalledWorkerDoesNotBlockOthers() async throws {
        let clock = ManualClock()
        let harness = try Harness(
            [shell("w", #"echo '{"status":"ready"}'; exec sleep 1000"#), python("calm", oracle)], quick, clock: clock)
        async let run: Void = harness.supervisor.run()
        for _ in 0..<2 { try await harness.wait { if case .ready = $0 { () } else { nil } } }
        let long = ControlValue.string(String(repeating: "x", count: 100_000))
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { _ = await ask(harness.supervisor, "mute", ["x": long]) } }
            var refused = 0
            // Of 100, at most 64 are queued and one is being written; the others are refused at once.
            while refused < 35, await group.next() != nil { refused += 1 }
            #expect(refused == 35)
            #expect(await ask(harness.supervisor, "double", ["value": 1], of: "calm") == .success(["value": 2]))
            harness.supervisor.drain()
        }
        try await run
    }

    /// A flood of questions neither delays health checks nor hides a missing answer.
    @Test func floodDoesNotHideHangingWorker() async throws {
        let clock = ManualClock()
        var configuration = quick
        configuration.patience = .seconds(60)
        let harness = try Harness([python("w", oracle)], configuration, clock: clock)
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        #expect(await clock.nextSleep() == .seconds(30))
        await withTaskGroup { group in
            for number in 1...256 {
                group.addTask { _ = try? await harness.supervisor.ask("w", "mute", within: .seconds(1000)) }
                #expect(await clock.nextSleep() == .seconds(1000))
                guard number % 32 == 0, number < 256 else { continue }
                // An answer shows that the question and everything before it was read: the queue has room.
                #expect(await ask(harness.supervisor, "double", ["value": 1]) == .success(["value": 2]))
                #expect(await clock.nextSleep() == .seconds(10))
            }
            let full = SupervisorError(.tooManyAsks, "256 questions are already in flight")
            #expect(await ask(harness.supervisor, "double", ["value": 1]) == .failure(full))
            clock.advance(by: .seconds(30))
            #expect(await clock.nextSleep() == .seconds(30))
            clock.advance(by: .seconds(30))
            try? await harness.event(.hung(worker: "w"))
            harness.supervisor.drain()
        }
        try await run
    }

    @Test func clientsCannotSendHealthChecks() async throws {
        let echo = python(
            "w",
            #"""
            import json, sys
            print('{"status":"ready"}', flush=True)
            for line in sys.stdin:
                ask = json.loads(line)
                print(json.dumps({"answer": ask["id"], "result": ask}), flush=True)
            """#)
        let harness = try Harness([echo], quick, clock: ContinuousClock())
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        let answer = await ask(harness.supervisor, "health", ["signOfLife": true, "x": 1])
        #expect(try answer.get() == ["ask": "health", "id": 1, "x": 1])
        harness.supervisor.drain()
        try await run
    }
}
