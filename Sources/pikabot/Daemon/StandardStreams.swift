import Daemon
import Foundation
import Logging
import ServiceLifecycle

/// A daemon's standard input and output. End of input does not end the daemon.
struct StandardStreams: Service {
    let engine: DaemonEngine
    let client: DaemonClient

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await BlockingStreams.read(STDIN_FILENO) { await engine.receive($0, from: client) } }
            // Ending the engine closes the queue; its last lines are written before this service returns.
            await BlockingStreams.write(client.lines, to: STDOUT_FILENO)
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}

/// A child process in place of the standard streams: its output is read as commands, and its input gets the daemon's
/// lines.
struct ChildStreams: Service {
    let engine: DaemonEngine
    let client: DaemonClient
    let command: String
    let logger: Logger

    func run() async throws {
        let input = Pipe()
        let output = Pipe()
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/sh")
        child.arguments = ["-c", command]
        child.standardInput = input
        child.standardOutput = output
        let logger = logger
        child.terminationHandler = { child in
            logger.notice("the --exec program has ended", metadata: ["status": "\(child.terminationStatus)"])
        }
        try child.run()
        await withTaskGroup(of: Void.self) { group in
            let commands = output.fileHandleForReading.fileDescriptor
            group.addTask { await BlockingStreams.read(commands) { await engine.receive($0, from: client) } }
            await BlockingStreams.write(client.lines, to: input.fileHandleForWriting.fileDescriptor)
            try? input.fileHandleForWriting.close()
            try? await gracefulShutdown()
            group.cancelAll()
        }
        if child.isRunning { child.terminate() }
    }
}
