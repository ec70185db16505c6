import Daemon
import Logging
import PikaCore
import ServiceLifecycle
import Synchronization

/// One run of a program under its daemon, from start to exit.
struct ProgramRun: Sendable {
    /// The outcome of a run.
    struct End: Sendable, Hashable {
        var exit: ProgramExit
        /// The missed deadline for which the program was killed.
        var stall: ProgramStall?
        /// Whether it was told to exit, or asked for it.
        var isOrdered = false

        var isSuccess: Bool { stall == nil && (isOrdered || exit.isSuccess) }
        /// The metric label.
        var reason: String { stall == nil ? exit.reason : "stall" }
        var description: String { stall.map { "stalled: \($0.rawValue)" } ?? "\(exit)" }
    }

    private enum Piece: Sendable {
        case served
        case stalled(ProgramStall?)
        case exited(ProgramExit)
    }

    let engine: DaemonEngine
    let program: ExternalBotProgram
    /// The deadline of the program for pending work, in milliseconds.
    let patience: Int64
    let grace: Duration
    let clock: any CoreClock
    let logger: Logger

    /// Returns when the program has ended: by itself, by a graceful shutdown, or killed by a cancellation.
    func run() async -> End {
        let client = DaemonClient(.program)
        let process = ProgramProcess(program, lines: client.lines, grace: grace)
        await engine.begin(client)
        var end = await withGracefulShutdownHandler {
            await run(process, client)
        } onGracefulShutdown: {
            process.stop()
        }
        let failure: ProgramFailure? = end.stall.map { .stalled($0) } ?? (end.isOrdered ? nil : .ended)
        let report = await engine.finish(client, because: failure)
        end.isOrdered = end.isOrdered || report.isShutDown
        if let (cursor, count) = report.blamed {
            logger.warning(
                "The external bot's program failed during an event",
                metadata: ["cursor": "\(cursor)", "times": "\(count)"])
        }
        return end
    }

    private func run(_ process: ProgramProcess, _ client: DaemonClient) async -> End {
        await withTaskGroup(of: Piece.self, returning: End.self) { group in
            group.addTask {
                await engine.serve(client)
                return .served
            }
            group.addTask { .stalled(await engine.waitForStall(of: client, milliseconds: patience)) }
            group.addTask { await .exited(start(process, client)) }
            var end = End(exit: .exited(0))
            for await piece in group {
                switch piece {
                // Its input was closed: by `shutdown`, by the engine's end, or because it has exited.
                case .served: process.stop()
                case .stalled(let stall):
                    guard let stall else { continue }
                    end.stall = stall
                    process.kill()
                case .exited(let exit):
                    end.exit = exit
                    group.cancelAll()
                }
            }
            end.isOrdered = end.isOrdered || Task.isShuttingDownGracefully || Task.isCancelled
            return end
        }
    }

    private func start(_ process: ProgramProcess, _ client: DaemonClient) async -> ProgramExit {
        let diagnostics = Mutex(DiagnosticLines())
        return await process.run { piece in
            await engine.receive(piece, from: client)
        } diagnostics: { bytes in
            let now = clock.nowMilliseconds
            let (lines, dropped) = diagnostics.withLock { diagnostics in
                let dropped = diagnostics.drainDropped(now: now)
                return (diagnostics.append(bytes, now: now), dropped)
            }
            if dropped > 0 {
                logger.warning("Dropped lines of the program's standard error", metadata: ["lines": "\(dropped)"])
            }
            for line in lines { logger.info("Program output", metadata: ["line": "\(line)"]) }
        }
    }
}
