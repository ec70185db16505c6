import BotKit
import Foundation
import LiveTesting
import Testing

@testable import BotRuntime

@Suite(.live) struct LocalProgramsTests {
    private let programs = LocalPrograms(folder: "/", path: LocalPrograms.standardPath)

    private func run(
        _ script: String, input: String = "", environment: [String: String] = [:], timeout: Duration = .seconds(20),
        maximumBytes: Int = 1 << 20
    ) async throws -> String {
        let output = try await programs.run(
            BotProgramRun(
                command: ["sh", "-c", script], environment: environment, input: Array(input.utf8), timeout: timeout,
                maximumBytes: maximumBytes))
        return String(decoding: output, as: UTF8.self)
    }

    private func failure(_ body: () async throws -> String) async -> String {
        do { return "no failure but \(try await body())" } catch { return "\(error)" }
    }

    @Test func passesInputAndReturnsOutput() async throws {
        #expect(try await run("tr a-z A-Z; echo more >&2", input: "hello") == "HELLO")
    }

    @Test func programMayIgnoreInput() async throws {
        let long = String(repeating: "x", count: 1 << 20)
        #expect(try await run("echo done", input: long) == "done\n")
    }

    @Test func passesOnlyGivenEnvironment() async throws {
        let output = try await run("env", environment: ["TOKEN": "a b"])
        let names = Set(output.split(separator: "\n").compactMap { $0.split(separator: "=").first.map(String.init) })
        // The shell adds the last three itself.
        #expect(names.subtracting(["PWD", "SHLVL", "_"]) == ["PATH", "TOKEN"])
        #expect(output.contains("TOKEN=a b\n"))
    }

    @Test func runsInItsFolder() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("programs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("here.sh").path
        try Data("#!/bin/sh\npwd\n".utf8).write(to: URL(fileURLWithPath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let programs = LocalPrograms(folder: folder.path, path: LocalPrograms.standardPath)
        let output = try await programs.run(BotProgramRun(command: ["./here.sh"]))
        #expect(String(decoding: output, as: UTF8.self).hasSuffix(folder.lastPathComponent + "\n"))
    }

    @Test func reportsFailures() async {
        #expect(await failure { try await run("exit 3") } == "program_failed: sh ended with status 3")
        #expect(await failure { try await run("kill -9 $$") } == "program_failed: sh was terminated by signal 9")
        #expect(
            await failure { try await run("yes", maximumBytes: 1000) }
                == "program_failed: sh: its output exceeds 1000 bytes")
        let missing = await failure {
            String(describing: try await programs.run(BotProgramRun(command: ["no-such-program"])))
        }
        #expect(missing == "program_failed: no-such-program: program not found")
        let none = await failure { String(describing: try await programs.run(BotProgramRun(command: []))) }
        #expect(none == "program_failed: the command is empty")
    }

    // MARK: Conversations

    /// Collects lines, and answers the first ones.
    private actor Answers {
        private(set) var received: [String] = []
        private let input: AsyncStream<String>.Continuation

        init(_ input: AsyncStream<String>.Continuation) { self.input = input }

        func receive(_ line: String) {
            received.append(line)
            if received.count == 1 { input.yield("second") } else { input.finish() }
        }
    }

    @Test func conversationAlternatesLines() async throws {
        let (lines, input) = AsyncStream.makeStream(of: String.self)
        let answers = Answers(input)
        input.yield("first")
        let script = "while read line; do echo \"got $line\"; done"
        try await programs.converse(
            with: BotProgramRun(command: ["sh", "-c", script], timeout: .seconds(20)), lines: lines
        ) { await answers.receive($0) }
        #expect(await answers.received == ["got first", "got second"])
    }

    @Test func conversationEndsWithItsLines() async throws {
        let (lines, input) = AsyncStream.makeStream(of: String.self)
        input.finish()
        // It ignores the end of its input, and is killed two seconds later.
        let message = await failure {
            try await programs.converse(
                with: BotProgramRun(command: ["sh", "-c", "sleep 600"], timeout: .seconds(300)), lines: lines
            ) { _ in }
            return ""
        }
        #expect(message == "program_failed: sh was terminated by signal 9")
    }

    @Test func conversationDropsLongLines() async throws {
        let (lines, input) = AsyncStream.makeStream(of: String.self)
        let answers = Answers(input)
        let script = "head -c 5000 /dev/zero | tr '\\0' x; echo; echo short; read line; echo $line"
        try await programs.converse(
            with: BotProgramRun(command: ["sh", "-c", script], timeout: .seconds(20), maximumBytes: 100), lines: lines
        ) { await answers.receive($0) }
        #expect(await answers.received == ["short", "second"])
    }

    /// The grandchild reports its process id and must be killed too.
    @Test func timeoutKillsProgramAndChildren() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pid-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let message = await failure {
            try await run("sleep 600 & echo $! > '\(file.path)'; wait", timeout: .seconds(1))
        }
        #expect(message == "program_failed: sh took longer than 1.0 seconds and was killed")
        let text = try String(contentsOf: file, encoding: .utf8).filter(\.isNumber)
        let child = try #require(Int32(text))
        try await processEnds(child)
    }

    @Test func cancellationKillsProgram() async throws {
        let clock = ContinuousClock()
        let started = clock.now
        let task = Task { try await run("sleep 600", timeout: .seconds(500)) }
        task.cancel()
        await #expect(throws: BotError.self) { try await task.value }
        // Long before its own end or its timeout, even on a busy machine.
        #expect(clock.now - started < .seconds(400))
    }
}
