import Daemon
public import Restarts

/// A program that runs as a bot, and its permissions.
public struct ExternalBotProgram: Sendable, Hashable {
    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    public var command: [String]
    /// Its working directory; a relative program path with a slash starts there.
    public var directory: String
    /// Its whole environment.
    public var environment: [String: String]
    /// The daemon commands that it may use.
    public var commands: Set<String>
    /// The chats that its commands may access; nil for all chats in which it is active.
    public var groups: Set<String>?
    public var restart: RestartKind

    /// The commands allowed by default.
    public static let standardCommands: Set<String> = ["send_message", "react", "send_typing", "send_hypernote"]

    /// The commands that a configuration may allow.
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
