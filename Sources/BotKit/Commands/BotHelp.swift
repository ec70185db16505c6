/// The command that lists the bot's commands that have a help text.
///
/// A bot without help texts has no such command, and a command of the bot with the same name takes precedence.
public enum BotHelp: Sendable, Hashable {
    /// `/help` lists all commands, `/help roll` explains one.
    case command(String, prefix: String = "/")
    /// No help command.
    case off

    /// Returns the help handler, which belongs after the bot's own; nil if there is nothing to list.
    package func handler(for handlers: [Handler]) -> Handler? {
        let usages = handlers.compactMap(\.command).filter { $0.help != nil }
        guard case .command(let name, let prefix) = self, !usages.isEmpty else { return nil }
        return OnCommand(name, arguments: [.word("command").optional], prefix: prefix) { command, context in
            context.reply(Self.text(about: command.string("command"), usages))
        }.handler
    }

    static func text(about name: String?, _ usages: [CommandUsage]) -> String {
        guard let name else { return usages.map { "\($0.line): \($0.help ?? "")" }.joined(separator: "\n") }
        let wanted = usages.filter { $0.name == name.lowercased() || $0.prefix + $0.name == name.lowercased() }
        guard !wanted.isEmpty else {
            let nearest = nearestName(to: name, in: usages.map(\.name))
            return "unknown command \(name)" + (nearest.map { "; did you mean \($0)?" } ?? "")
        }
        return wanted.map { "\($0.line)\n\($0.help ?? "")" }.joined(separator: "\n")
    }
}
