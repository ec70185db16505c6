import Foundation
import LiveTesting
import Logging
import ServiceLifecycle
import Supervisor
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A supervisor of real `/bin/sh` children, with its events in order.
final class Harness<TestClock: Clock>: Sendable where TestClock.Duration == Duration {
    let supervisor: Supervisor<TestClock>
    let diagnostics = Diagnostics()
    private let events: AsyncStream<SupervisorEvent>

    init(_ workers: [WorkerSpecification], _ configuration: SupervisorConfiguration, clock: TestClock) throws {
        let (events, continuation) = AsyncStream.makeStream(of: SupervisorEvent.self)
        self.events = events
        supervisor = try Supervisor(
            workers: workers, configuration: configuration, clock: clock, generator: SplitMix64(seed: 3),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            writeDiagnostics: { [diagnostics] in diagnostics.add($0) }, observe: { continuation.yield($0) })
    }

    final class Diagnostics: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    /// Skips events until `pick` returns a value.
    func wait<Value>(for pick: (SupervisorEvent) -> Value?) async throws -> Value {
        for await event in events {
            if let value = pick(event) { return value }
        }
        throw CancellationError()
    }

    func pid() async throws -> Int32 {
        try await wait { if case .started(_, let pid) = $0 { pid } else { nil } }
    }

    func exit(_ worker: String = "w") async throws -> WorkerExit {
        try await wait { if case .exited(worker, let exit) = $0 { exit } else { nil } }
    }

    func line() async throws -> String {
        try await wait { if case .workerEvent(_, let line) = $0 { line } else { nil } }
    }

    func event(_ expected: SupervisorEvent) async throws {
        try await wait { $0 == expected ? () : nil }
    }
}

let quick = SupervisorConfiguration(
    intensity: 50, backoff: .milliseconds(1) ... .milliseconds(2), drainDeadline: .seconds(20))

/// Reports ready, then waits for the end of its standard input or a signal.
private let obedient = #"echo '{"status":"ready"}'; exec cat >/dev/null"#

@Suite(.live)
struct SupervisorLiveTests {
    private func harness(
        _ workers: [WorkerSpecification], _ configuration: SupervisorConfiguration = quick
    ) throws -> Harness<ContinuousClock> {
        try Harness(workers, configuration, clock: ContinuousClock())
    }

    @Test func restartsExitedWorker() async throws {
        let harness = try harness([shell("w", "exit 3")])
        async let run: Void = harness.supervisor.run()
        for _ in 0..<5 { #expect(try await harness.exit() == .exited(3)) }
        harness.supervisor.drain()
        try await run
    }

    /// The orphan ignores the end of its input and SIGTERM, and has its own process group.
    @Test func killsOrphansOfKilledWorker() async throws {
        let program = """
            import os, signal, time
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(1, b'{"event":"here","pid":%d}\\n' % os.getpid())
            for stream in (0, 1, 2): os.dup2(os.open(os.devnull, os.O_RDWR), stream)
            while True: time.sleep(1000)
            """
        let worker = shell("w", #"python3 -c "$PROGRAM" & wait"#, environment: ["PROGRAM": program])
        let harness = try harness([worker])
        async let run: Void = harness.supervisor.run()
        let pid = try await harness.pid()
        let line = try await harness.line()
        let orphan = try #require(Int32(line.filter(\.isNumber)))
        #expect(getpgid(orphan) == orphan && getsid(orphan) == pid && orphan != pid)
        kill(pid, SIGKILL)
        _ = try await harness.exit()
        try await processEnds(orphan)
        harness.supervisor.drain()
        try await run
    }

    @Test func restartsKilledWorker() async throws {
        let harness = try harness([shell("w", obedient)])
        async let run: Void = harness.supervisor.run()
        var pids: Set<Int32> = []
        for _ in 0..<10 {
            let pid = try await harness.pid()
            pids.insert(pid)
            try await harness.event(.ready(worker: "w"))
            kill(pid, SIGKILL)
            #expect(try await harness.exit() == .signaled(SIGKILL))
        }
        pids.insert(try await harness.pid())
        harness.supervisor.drain()
        try await run
        #expect(pids.count == 11)
        #expect(pids.allSatisfy { kill($0, 0) == -1 && errno == ESRCH })
    }

    @Test func quarantinesFailingWorker() async throws {
        var configuration = quick
        configuration.intensity = 2
        let harness = try harness([shell("w", "exit 1"), shell("calm", obedient)], configuration)
        async let run: Void = harness.supervisor.run()
        try await harness.event(
            .quarantined(worker: "w", why: "more than 2 restarts within 60.0 seconds; last exit: exit status 1"))
        harness.supervisor.drain()
        try await run
    }

    @Test func throwsWithOnlyQuarantinedWorkers() async throws {
        var configuration = quick
        configuration.intensity = 1
        let harness = try harness([shell("w", "exit 1")], configuration)
        await #expect(throws: SupervisorError(.noWorkersLeft, "quarantined: w")) {
            try await harness.supervisor.run()
        }
    }

    @Test func missingProgramFailsStart() async throws {
        let worker = WorkerSpecification(name: "w", executable: "/nonexistent/program", restart: .temporary)
        let harness = try harness([worker])
        try await harness.supervisor.run()
        guard case .failedToStart(let reason) = try await harness.exit() else {
            Issue.record("expected the worker to fail to start")
            return
        }
        #expect(reason.contains("/nonexistent/program"))
    }

    @Test func transientWorkerEndsAfterSuccess() async throws {
        let harness = try harness([shell("w", "exit 0", .transient)])
        try await harness.supervisor.run()
        #expect(try await harness.exit() == .exited(0))
    }

    @Test func gracefulShutdownDrains() async throws {
        let script = #"trap 'echo "{\"status\":\"draining\"}"; exit 0' TERM; echo '{"status":"ready"}'; read x"#
        let harness = try harness([shell("a", script), shell("b", script)])
        let group = ServiceGroup(
            services: [harness.supervisor], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        async let run: Void = group.run()
        for _ in 0..<2 { try await harness.wait { if case .ready = $0 { () } else { nil } } }
        await group.triggerGracefulShutdown()
        try await harness.wait { if case .draining = $0 { () } else { nil } }
        try await run
    }

    @Test func killsChildAfterDeadline() async throws {
        let clock = ManualClock()
        let script = #"""
            trap 'echo "{\"event\":\"ignored\"}"' TERM
            echo '{"status":"ready"}'
            while :; do sleep 0.01; done
            """#
        let harness = try Harness([shell("w", script)], quick, clock: clock)
        async let run: Void = harness.supervisor.run()
        try await harness.event(.ready(worker: "w"))
        harness.supervisor.drain()
        try await harness.event(.workerEvent(worker: "w", line: #"{"event":"ignored"}"#))
        #expect(await clock.nextSleep() == .seconds(20))
        clock.advance(by: .seconds(20))
        #expect(try await harness.exit() == .signaled(SIGKILL))
        try await run
    }

    @Test func backoffUsesClock() async throws {
        let clock = ManualClock()
        let configuration = SupervisorConfiguration(backoff: .seconds(100) ... .seconds(100))
        let harness = try Harness([shell("w", "exit 1")], configuration, clock: clock)
        async let run: Void = harness.supervisor.run()
        let first = try await harness.pid()
        #expect(await clock.nextSleep() == .seconds(100))
        clock.advance(by: .seconds(100))
        #expect(try await harness.pid() != first)
        _ = await clock.nextSleep()
        harness.supervisor.drain()
        try await run
    }

    @Test func cancellationKillsAndReaps() async throws {
        let script = #"trap '' TERM; echo '{"status":"ready"}'; while :; do sleep 1; done"#
        let harness = try harness([shell("w", script)])
        let run = Task { try await harness.supervisor.run() }
        let pid = try await harness.pid()
        try await harness.event(.ready(worker: "w"))
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }

    @Test func deliversLinesInOrderBeforeExit() async throws {
        let script = #"i=0; while [ $i -lt 2000 ]; do echo "{\"event\":\"$i\"}"; i=$((i+1)); done; exit 4"#
        let harness = try harness([shell("w", script, .temporary)])
        try await harness.supervisor.run()
        for number in 0..<2000 {
            let line = try await harness.line()
            #expect(line == "{\"event\":\"\(number)\"}")
        }
        #expect(try await harness.exit() == .exited(4))
    }

    @Test func prefixesStandardErrorOfSeveralWorkers() async throws {
        let alone = try harness([shell("w", "echo one >&2; printf two >&2", .temporary)])
        try await alone.supervisor.run()
        #expect(alone.diagnostics.all == ["one", "two"])
        let pair = try harness([shell("a", "echo x >&2", .temporary), shell("b", "echo y >&2", .temporary)])
        try await pair.supervisor.run()
        #expect(pair.diagnostics.all.sorted() == ["a: x", "b: y"])
    }

    @Test func changesEnvironment() async throws {
        let worker = shell(
            "w", #"echo "{\"event\":\"$PIKABOT_TEST-${HOME-none}\"}""#, .temporary,
            environment: ["PIKABOT_TEST": "yes", "HOME": String?.none])
        let harness = try harness([worker])
        try await harness.supervisor.run()
        try await harness.event(.workerEvent(worker: "w", line: #"{"event":"yes-none"}"#))
    }

    @Test func childrenAreIsolated() async throws {
        let script = #"""
            read -r _ _ _ _ group _ < /proc/$$/stat
            fds=; for fd in /proc/$$/fd/*; do [ -e $fd ] && fds="$fds${fd##*/} "; done
            [ "$group" = $$ ] && own=own || own=shared
            echo "{\"event\":\"$fds$own\"}"; exec cat >/dev/null
            """#
        let harness = try harness([shell("a", script), shell("b", script), shell("c", script)])
        async let run: Void = harness.supervisor.run()
        for _ in 0..<3 {
            let line = try await harness.line()
            #expect(line == #"{"event":"0 1 2 own"}"#)
        }
        harness.supervisor.drain()
        try await run
    }

    @Test func runsOnce() async throws {
        let harness = try harness([shell("w", "exit 0", .temporary)])
        try await harness.supervisor.run()
        await #expect(throws: SupervisorError(.alreadyRunning, "run() may be called only once")) {
            try await harness.supervisor.run()
        }
    }

    @Test func refusesInvalidConfiguration() {
        #expect(throws: SupervisorError(.invalidConfiguration, "no workers are configured")) {
            try harness([])
        }
        #expect(throws: SupervisorError(.invalidConfiguration, "duplicate worker name w")) {
            try harness([shell("w", ""), shell("w", "")])
        }
    }
}
