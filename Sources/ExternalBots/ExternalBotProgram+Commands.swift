import Daemon

extension ExternalBotProgram {
    /// Every command that a configuration may allow to a program.
    public static var knownCommands: Set<String> { DaemonCommand.names }
}
