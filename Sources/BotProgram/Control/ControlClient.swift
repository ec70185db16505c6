import ArgumentParser
import BotConfiguration
import Nostr

/// The options by which operator commands find a supervisor.
struct ControlOptions: ParsableArguments {
    @Argument(help: "The configuration file of the running supervisor.") var file: String
    @Option(help: "The control socket, if it differs from the one in the file.") var control: String?
    @OptionGroup var shards: ShardOptions
    @Flag(help: "Print JSON.") var json = false

    /// Returns the socket's path. Without `--control` it depends on the file, and an invalid file ends the command with
    /// ``ArgumentParser/ExitCode/wrongConfiguration``.
    func path() throws -> String {
        if let control { return control }
        let shard = try shards.chosen()
        do throws(ConfigurationError) {
            let configuration = try Configuration.load(path: file, registry: BotProgram.registry)
            return Placement(shard: shard).applied(to: configuration).controlPath
        } catch {
            for problem in error.problems { Console.printError("error: \(problem)") }
            Console.printError(
                "The file is invalid, so the path of the control socket is unknown: pass --control PATH.")
            throw ExitCode.wrongConfiguration
        }
    }
}

/// One connection to a supervisor's control socket.
struct ControlClient {
    private let socket: LineSocket

    /// Connects; ends the command with ``ArgumentParser/ExitCode/notRunning`` if no supervisor listens.
    init(_ options: ControlOptions) throws {
        let path = try options.path()
        guard let socket = try LineSocket(path: path) else {
            let shard = try options.shards.chosen().map { " --shard \($0)" } ?? ""
            Console.printError(
                "error: no supervisor listens at \(path); start one with: \(Executable.name) run \(options.file)\(shard)"
            )
            throw ExitCode.notRunning
        }
        self.socket = socket
    }

    func send(_ command: String, _ parameters: JSONObject = [:]) throws {
        var request = parameters
        request["command"] = .string(command)
        try socket.write(JSONValue.object(request).jsonText)
    }

    /// Returns the next line; nil when the supervisor has closed the connection.
    func next() throws -> JSONValue? {
        try socket.readLine().map { try JSONValue(json: $0) }
    }

    /// Returns the result of a command. Throws ``CommandError`` with the supervisor's message.
    func call(_ command: String, _ parameters: JSONObject = [:]) throws -> JSONValue {
        try send(command, parameters)
        guard let answer = try next() else {
            throw CommandError("the supervisor closed the connection before answering")
        }
        if let message = answer["error"]?["message"]?.string { throw CommandError(message) }
        return answer["result"] ?? .null
    }
}
