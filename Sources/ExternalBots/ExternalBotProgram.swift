import BotDispatch
package import PikaCore
package import ProcessSupport

/// A program that runs as a bot, and its permissions.
package struct ExternalBotProgram: Sendable, Hashable {
    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    package var command: [String]
    /// Its working directory; a relative program path with a slash starts there.
    package var directory: String
    /// Its whole environment.
    package var environment: [String: String]
    /// The daemon commands that it may use.
    package var commands: Set<String>
    /// The chats that its commands may access; nil for all chats in which it is active.
    package var groups: Set<ChatID>?
    package var restart: RestartKind

    /// The commands allowed by default.
    package static let standardCommands = ProgramCommands.standard

    /// The commands that a configuration may allow.
    package static let knownCommands = ProgramCommands.known

    package init(
        command: [String], directory: String, environment: [String: String] = [:],
        commands: Set<String> = Self.standardCommands, groups: Set<ChatID>? = nil, restart: RestartKind = .permanent
    ) {
        self.command = command
        self.directory = directory
        self.environment = environment
        self.commands = commands
        self.groups = groups
        self.restart = restart
    }
}
