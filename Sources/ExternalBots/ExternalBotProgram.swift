/// A program that is a bot, and what it may do.
public struct ExternalBotProgram: Sendable {
    /// The program and its arguments.
    public var command: [String]
    /// Its working directory.
    public var directory: String
    /// Its whole environment.
    public var environment: [String: String]
    /// The daemon commands that it may use.
    public var commands: Set<String>
    /// The chats that its commands may touch; nil for all of those in which it is at work.
    public var groups: Set<String>?

    public init(
        command: [String], directory: String, environment: [String: String], commands: Set<String>,
        groups: Set<String>?
    ) {
        self.command = command
        self.directory = directory
        self.environment = environment
        self.commands = commands
        self.groups = groups
    }
}
