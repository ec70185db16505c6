import Daemon
public import Restarts

/// A program that is a bot, and what it may do.
public struct ExternalBotProgram: Sendable, Hashable {
    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    public var command: [String]
    /// Its working directory; a program with a slash is found from there.
    public var directory: String
    /// Its whole environment.
    public var environment: [String: String]
    /// The daemon commands that it may use.
    public var commands: Set<String>
    /// The chats that its commands may touch; nil for all of those in which it is at work.
    public var groups: Set<String>?
    public var restart: RestartKind

    /// What a program may use unless its configuration says otherwise.
    public static let standardCommands: Set<String> = ["send_message", "react", "send_typing", "send_hypernote"]

    /// What a configuration may allow to a program.
    public static let knownCommands = DaemonCommand.names

    public init(
        command: [String], directory: String, environment: [String: String] = [:],
        commands: Set<String> = Self.standardCommands, groups: Set<String>? = nil, restart: RestartKind = .permanent
    ) {
        self.command = command
        self.directory = directory
        self.environment = environment
        self.commands = commands
        self.groups = groups
        self.restart = restart
    }
}
