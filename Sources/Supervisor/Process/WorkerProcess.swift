import ProcessSupport
import Subprocess
import Synchronization
import SystemPackage

/// One run of a worker's process: spawned, its streams read to the end, reaped.
///
/// The process has a pipe as standard input, which carries questions. The pipe closes when this process ends for any
/// reason, and the worker ends at the end of its input. The worker has its own session, so Ctrl-C in a terminal reaches
/// only the supervisor, which then drains; remaining processes of the session are killed after the worker has ended.
struct WorkerProcess: Sendable {
    /// Callbacks to the owner. Nothing more is read from a stream until the callback with its lines has returned; the worker
    /// waits only when the pipe is full.
    struct Callbacks: Sendable {
        var spawned: @Sendable (_ pid: Int32) async -> Void
        var output: @Sendable (_ lines: [String]) async -> Void
        var diagnostics: @Sendable (_ lines: [String]) async -> Void
    }

    /// Controls a process that may not have started or may have ended; safe to use at any time.
    struct Control: Sendable {
        fileprivate let terminations: AsyncStream<Void>.Continuation
        fileprivate let kills: AsyncStream<Void>.Continuation
        fileprivate let lines: AsyncStream<String>.Continuation

        /// Sends SIGTERM to the worker.
        func terminate() { terminations.yield() }
        /// Sends SIGKILL to the worker's whole process group.
        func kill() { kills.finish() }
        /// Enqueues a line for the worker's standard input; returns false if too many earlier ones are unread.
        func send(_ line: String) -> Bool {
            switch lines.yield(line) {
            case .enqueued: true
            case .dropped, .terminated: false
            @unknown default: false
            }
        }
    }

    /// Maximum number of lines queued for a worker that does not read.
    private static let longestQueue = 64
    /// Large enough for an answer with all of a worker's metrics.
    private static let longestLine = 8 << 20

    let control: Control
    private let specification: WorkerSpecification
    private let terminations: AsyncStream<Void>
    private let kills: AsyncStream<Void>
    private let lines: AsyncStream<String>

    init(_ specification: WorkerSpecification) {
        self.specification = specification
        let (terminations, termination) = AsyncStream.makeStream(of: Void.self)
        let (kills, kill) = AsyncStream.makeStream(of: Void.self)
        let (lines, line) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingOldest(Self.longestQueue))
        self.terminations = terminations
        self.kills = kills
        self.lines = lines
        control = Control(terminations: termination, kills: kill, lines: line)
    }

    /// Returns when the process is reaped; cancelling the task kills it.
    func run(_ callbacks: Callbacks) async -> WorkerExit {
        await withTaskGroup(of: WorkerExit?.self) { group in
            group.addTask { await spawnAndWait(callbacks) }
            group.addTask {
                for await _ in kills {}
                return nil
            }
            var exit: WorkerExit?
            for await result in group {
                exit = exit ?? result
                group.cancelAll()
            }
            return exit ?? .failedToStart("cancelled")
        }
    }

    private func spawnAndWait(_ callbacks: Callbacks) async -> WorkerExit {
        let session = Mutex<Int32?>(nil)
        defer { if let session = session.withLock({ $0 }) { OrphanedProcesses.kill(session: session) } }
        do {
            let result = try await Subprocess.run(
                configuration, input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                session.withLock { $0 = Int32(execution.processIdentifier.value) }
                await callbacks.spawned(Int32(execution.processIdentifier.value))
                await withTaskGroup { group in
                    group.addTask {
                        for await _ in terminations {
                            // The worker may have ended already.
                            try? execution.send(signal: .terminate)
                        }
                    }
                    group.addTask {
                        for await line in lines {
                            // The worker may have ended; its exit is reported elsewhere.
                            guard (try? await execution.standardInputWriter.write(line + "\n")) != nil else { return }
                        }
                    }
                    async let output: Void = Self.read(
                        execution.standardOutput, limit: Self.longestLine, into: callbacks.output)
                    await Self.read(execution.standardError, into: callbacks.diagnostics)
                    await output
                    group.cancelAll()
                }
            }
            switch result.terminationStatus {
            case .exited(let status): return .exited(status)
            case .signaled(let signal): return .signaled(signal)
            }
        } catch {
            return .failedToStart(String(describing: error))
        }
    }

    private var configuration: Subprocess.Configuration {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
        ]
        let additions = specification.environment.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
        return Subprocess.Configuration(
            executable: .path(FilePath(specification.executable)), arguments: Arguments(specification.arguments),
            environment: .inherit.updating(Dictionary(additions) { $1 }), platformOptions: options)
    }

    /// Reads to the end of the stream; a read error counts as the end.
    private static func read(
        _ stream: SubprocessOutputSequence, limit: Int = 256 * 1024, into receive: @Sendable ([String]) async -> Void
    ) async {
        // Truncates overlong lines, so that a worker cannot exhaust the supervisor's memory.
        var assembler = LineAssembler(limit: limit, overlong: .truncated)
        var lines: [String] = []
        do {
            for try await buffer in stream {
                lines.removeAll(keepingCapacity: true)
                buffer.withUnsafeBytes { bytes in assembler.append(bytes) { lines.append($0.text) } }
                if !lines.isEmpty { await receive(lines) }
            }
        } catch {}
        lines = []
        assembler.finish { lines.append($0.text) }
        if !lines.isEmpty { await receive(lines) }
    }
}
