import BotDispatch
import Foundation
import Logging
import PikaCore
import ProcessSupport
import ServiceLifecycle
import Synchronization

@testable import ExternalBots

/// A folder with a program, the account that it serves, and its log.
final class Stage: Sendable {
    let account: FakeAccount
    let folder: String
    let bot: ExternalBot
    let log = LogLines()
    private let restarts: RestartPolicy

    /// - Parameters:
    ///   - script: Python; `pikabot` can be imported.
    ///   - command: the program's command line, if it is not Python.
    ///   - intensity: tolerated restarts per minute.
    init(
        _ script: String = "", command: [String] = ["python3", "bot.py"], commands: Set<String>? = nil,
        groups: Set<ChatID>? = nil, policy: BotPolicy = BotPolicy(timeout: .seconds(300)),
        environment: [String: String] = [:],
        restart: RestartKind = .permanent, intensity: Int = 100, account: FakeAccount = FakeAccount()
    ) throws {
        self.account = account
        folder = FileManager.default.temporaryDirectory.path + "/external-bots-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(script.utf8).write(to: URL(fileURLWithPath: "\(folder)/bot.py"))
        var variables = ProgramEnvironment.make(listed: environment, from: ProcessInfo.processInfo.environment)
        variables["PYTHONPATH"] = Self.examples
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        var program = ExternalBotProgram(
            command: command, directory: folder, environment: variables, groups: groups, restart: restart)
        program.commands = commands ?? program.commands
        bot = ExternalBot(label: "tested", program: program, policy: policy)
        restarts = RestartPolicy(
            intensity: intensity, period: .seconds(60), backoff: .milliseconds(1) ... .milliseconds(2))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The folder of the example bots.
    static let examples: String = {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized
        return root.appendingPathComponent("bots/python").path
    }()

    /// Runs the program while `body` runs, then ends it as a worker does.
    func run<Value: Sendable>(
        grace: Duration = .seconds(5), _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        var logger = Logger(label: "external") { [log] _ in log.handler }
        logger.logLevel = .info
        let service = ExternalBotService(
            bot, core: account,
            configuration: .init(core: CoreConfiguration(relays: []), restarts: restarts, grace: grace),
            clock: SystemClock(), logger: logger)
        let group = ServiceGroup(services: [service], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }

    /// Delivers a message of another member; returns when the program's daemon has received it.
    func say(_ text: String, in chatID: ChatID = FakeAccount.group) async throws {
        try await bot.intake.deliver(account.message(text, in: chatID))
    }

    /// Delivers a message and returns the next sent one.
    func ask(_ text: String, in chatID: ChatID = FakeAccount.group) async throws -> String {
        try await say(text, in: chatID)
        return await account.nextSent()
    }

    func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: "\(folder)/\(file)") }
}

/// Collects logged lines, to search and to await.
final class LogLines: Sendable {
    private let storage = Mutex<[String]>([])
    private let stream: AsyncStream<String>
    private let input: AsyncStream<String>.Continuation

    init() {
        (stream, input) = AsyncStream.makeStream()
    }

    var lines: [String] { storage.withLock { $0 } }
    var handler: any LogHandler { Handler(lines: self) }

    func count(_ text: String) -> Int { lines.count { $0.contains(text) } }

    /// Returns the next line with the text that no earlier call returned.
    func next(_ text: String) async -> String {
        for await line in stream where line.contains(text) { return line }
        return "nothing"
    }

    private func add(_ line: String) {
        storage.withLock { $0.append(line) }
        input.yield(line)
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            lines.add("\(event.level): \(event.message)" + pairs.map { " \($0.key)=\($0.value)" }.joined())
        }
    }
}
