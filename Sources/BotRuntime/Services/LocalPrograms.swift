package import BotKit
import ProcessSupport
import Subprocess
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Runs programs of this machine for bots.
///
/// Each has its own process group, which is killed at the timeout and on cancellation. Its environment consists of the
/// given variables and `PATH`, without those of this process. Its standard error is discarded.
package struct LocalPrograms: BotPrograms {
    package static let standardPath = "/usr/local/bin:/usr/bin:/bin"

    /// Ignores SIGPIPE, so that a program that exits before it has read its input does not terminate this process.
    private static let survivesBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    private let folder: String
    private let path: String

    /// - Parameters:
    ///   - folder: the programs' working directory, and the base of relative program paths.
    ///   - path: the `PATH` of the programs, also used to look up programs named without a slash.
    package init(folder: String, path: String) {
        _ = Self.survivesBrokenPipes
        self.folder = absolute(folder)
        self.path = path
    }

    package func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8] {
        let name = program.command.first ?? ""
        guard !name.isEmpty else { throw BotError(.programFailed, "the command is empty") }
        do {
            return try await withDeadline(program.timeout) { try await output(of: program, name) }
        } catch let error as BotError {
            throw error
        } catch is DeadlineExceeded {
            throw BotError(.programFailed, "\(name) took longer than \(program.timeout) and was killed")
        } catch {
            throw BotError(.programFailed, "\(name): \(Self.reason(error, limit: program.maximumBytes))")
        }
    }

    private func output(of program: BotProgramRun, _ name: String) async throws -> [UInt8] {
        // The library traps when it fails to write an input that is passed as a whole, so the input is written here.
        let result = try await Subprocess.run(
            configuration(of: program, name), input: .inputWriter, output: .bytes(limit: program.maximumBytes),
            error: .discarded
        ) { execution in
            // A program does not have to read its input.
            _ = try? await execution.standardInputWriter.write(program.input)
            try? await execution.standardInputWriter.finish()
        }
        switch result.terminationStatus {
        case .exited(0): return result.standardOutput
        case .exited(let status): throw BotError(.programFailed, "\(name) ended with status \(status)")
        case .signaled(let signal): throw BotError(.programFailed, "\(name) was terminated by signal \(signal)")
        }
    }

    package func converse(
        with program: BotProgramRun, lines: AsyncStream<String>,
        receive: @escaping @Sendable (_ line: String) async -> Void
    ) async throws(BotError) {
        let name = program.command.first ?? ""
        guard !name.isEmpty else { throw BotError(.programFailed, "the command is empty") }
        do {
            try await withDeadline(program.timeout) { try await conversation(with: program, name, lines, receive) }
        } catch let error as BotError {
            throw error
        } catch is DeadlineExceeded {
            throw BotError(.programFailed, "\(name) took longer than \(program.timeout) and was killed")
        } catch {
            throw BotError(.programFailed, "\(name): \(Self.reason(error, limit: program.maximumBytes))")
        }
    }

    private func conversation(
        with program: BotProgramRun, _ name: String, _ lines: AsyncStream<String>,
        _ receive: @escaping @Sendable (_ line: String) async -> Void
    ) async throws {
        let limit = program.maximumBytes
        let result = try await Subprocess.run(
            configuration(of: program, name), input: .inputWriter, output: .sequence, error: .discarded
        ) { execution in
            let writer = execution.standardInputWriter
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await line in lines {
                        // The program may have exited; its output ends then.
                        guard (try? await writer.write(Array((line + "\n").utf8))) != nil else { break }
                    }
                    try? await writer.finish()
                    // A program that does not exit by itself is killed.
                    guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
                    try? execution.send(signal: .kill, toProcessGroup: true)
                }
                await Self.read(execution.standardOutput, limit: limit, receive)
                group.cancelAll()
            }
        }
        switch result.terminationStatus {
        case .exited(0): return
        case .exited(let status): throw BotError(.programFailed, "\(name) ended with status \(status)")
        case .signaled(let signal): throw BotError(.programFailed, "\(name) was terminated by signal \(signal)")
        }
    }

    private static func read(
        _ stream: SubprocessOutputSequence, limit: Int, _ receive: @Sendable (_ line: String) async -> Void
    ) async {
        var assembler = LineAssembler(limit: limit)
        var pieces: [LineAssembler.Piece] = []
        do {
            for try await buffer in stream {
                assembler.append(buffer.withUnsafeBytes { Array($0) }) { pieces.append($0) }
                for case .line(let bytes) in pieces { await receive(String(decoding: bytes, as: UTF8.self)) }
                pieces.removeAll(keepingCapacity: true)
            }
        } catch { return }
        assembler.finish { pieces.append($0) }
        for case .line(let bytes) in pieces { await receive(String(decoding: bytes, as: UTF8.self)) }
    }

    private func configuration(of program: BotProgramRun, _ name: String) -> Subprocess.Configuration {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
        ]
        var environment: [Environment.Key: String] = ["PATH": path]
        for (name, value) in program.environment { environment[Environment.Key(stringLiteral: name)] = value }
        let file = name.hasPrefix("/") ? name : "\(folder)/\(name)"
        return Subprocess.Configuration(
            executable: name.contains("/") ? .path(FilePath(file)) : .name(name),
            arguments: Arguments(Array(program.command.dropFirst())), environment: .custom(environment),
            workingDirectory: FilePath(folder), platformOptions: options)
    }

    private static func reason(_ error: any Error, limit: Int) -> String {
        guard let error = error as? SubprocessError else { return "cancelled" }
        return switch error.code {
        case .executableNotFound: "program not found"
        case .outputLimitExceeded: "its output exceeds \(limit) bytes"
        case .failedToChangeWorkingDirectory: "its working directory does not exist"
        default: "it could not be started"
        }
    }
}
