import Daemon
import Foundation
import PikaCore
import ProcessSupport
import Subprocess
import SystemPackage

/// The process of a program: spawned, connected by its streams, terminated with all its children, and reaped.
///
/// It has its own process group, which is killed as soon as the program itself has exited. The end of its standard
/// input tells the program to exit, even if this process ends abnormally.
struct ProgramProcess: Sendable {
    private enum Order: Sendable {
        /// End of input and SIGTERM, then SIGKILL after `grace`.
        case stop
        case kill
    }

    let program: ExternalBotProgram
    /// The lines for its standard input; closed when the program ends.
    let lines: LineQueue
    /// The time that it has to exit.
    let grace: Duration
    private let orders: AsyncStream<Order>
    private let order: AsyncStream<Order>.Continuation

    /// Ignores SIGPIPE, so that writing to a program that was killed does not terminate this process.
    private static let survivesBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    init(_ program: ExternalBotProgram, lines: LineQueue, grace: Duration) {
        _ = Self.survivesBrokenPipes
        self.program = program
        self.lines = lines
        self.grace = grace
        (orders, order) = AsyncStream.makeStream()
    }

    /// Safe at any time, including before the start and after the exit.
    func stop() { order.yield(.stop) }
    func kill() { order.yield(.kill) }

    /// Runs the program and returns when it is reaped; cancelling the task kills it. Each call of `output` returns
    /// before more is read.
    func run(
        output: @escaping @Sendable (LineAssembler.Piece) async -> Void,
        diagnostics: @escaping @Sendable (_ bytes: [UInt8]) async -> Void
    ) async -> ProgramExit {
        defer { lines.close(dropping: true) }
        do {
            let result = try await Subprocess.run(
                configuration, input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                await serve(execution, output, diagnostics)
            }
            switch result.terminationStatus {
            case .exited(let status): return .exited(status)
            case .signaled(let signal): return .signaled(signal)
            }
        } catch {
            return .failedToStart(String(describing: error))
        }
    }

    private typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    private func serve(
        _ execution: Running, _ output: @escaping @Sendable (LineAssembler.Piece) async -> Void,
        _ diagnostics: @escaping @Sendable ([UInt8]) async -> Void
    ) async {
        let pid = execution.processIdentifier.value
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await obey(pid) }
            group.addTask { await write(to: execution.standardInputWriter) }
            async let errors: Void = Self.read(execution.standardError, diagnostics)
            await Self.readLines(execution.standardOutput, output)
            await errors
            // A program that has closed its streams is terminated along with its children.
            lines.close(dropping: true)
            await Self.end(pid, within: grace)
            group.cancelAll()
        }
    }

    private func obey(_ pid: pid_t) async {
        for await order in orders {
            switch order {
            case .stop:
                lines.close()
                _ = Foundation.kill(-pid, SIGTERM)
                await Self.end(pid, within: grace)
            case .kill: _ = Foundation.kill(-pid, SIGKILL)
            }
        }
    }

    /// Waits until the program has exited or the grace period is over; then kills the rest of its group. The program is
    /// not reaped yet, so that its id cannot be reused.
    private static func end(_ pid: pid_t, within grace: Duration) async {
        let end = ContinuousClock.now + grace
        while !hasEnded(pid), ContinuousClock.now < end, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(20))
        }
        _ = Foundation.kill(-pid, SIGKILL)
    }

    private static func hasEnded(_ pid: pid_t) -> Bool {
        var info = siginfo_t()
        let result = waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT)
        return result != 0 || info.si_signo != 0
    }

    // MARK: Streams

    /// Writes until the queue is closed or the program stops reading.
    private func write(to writer: StandardInputWriter) async {
        do {
            while let batch = await lines.next() {
                _ = try await writer.write(Array((batch.joined(separator: "\n") + "\n").utf8))
            }
        } catch { lines.close(dropping: true) }
        try? await writer.finish()
    }

    private static func readLines(
        _ stream: SubprocessOutputSequence, _ receive: (LineAssembler.Piece) async -> Void
    ) async {
        var assembler = LineAssembler(limit: 16 << 20)
        var pieces: [LineAssembler.Piece] = []
        do {
            for try await buffer in stream {
                pieces.removeAll(keepingCapacity: true)
                assembler.append(buffer.bytes()) { pieces.append($0) }
                for piece in pieces { await receive(piece) }
            }
        } catch {}
        pieces = []
        assembler.finish { pieces.append($0) }
        for piece in pieces { await receive(piece) }
    }

    /// Reads a stream to its end; an error counts as the end.
    private static func read(
        _ stream: SubprocessOutputSequence, _ receive: ([UInt8]) async -> Void
    ) async {
        do {
            for try await buffer in stream { await receive(buffer.bytes()) }
        } catch {}
    }

    private var configuration: Subprocess.Configuration {
        var options = PlatformOptions()
        options.processGroupID = 0
        let environment = program.environment.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
        return Subprocess.Configuration(
            executable: executable, arguments: Arguments(Array(program.command.dropFirst())),
            environment: .custom(Dictionary(environment) { $1 }), workingDirectory: FilePath(program.directory),
            platformOptions: options)
    }

    private var executable: Executable {
        let name = program.command.first ?? ""
        if !name.contains("/") { return .name(name) }
        return .path(FilePath(name.hasPrefix("/") ? name : "\(program.directory)/\(name)"))
    }
}

extension SubprocessOutputSequence.Buffer {
    fileprivate func bytes() -> [UInt8] { withUnsafeBytes { Array($0) } }
}
