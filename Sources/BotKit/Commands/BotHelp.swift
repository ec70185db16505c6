/// The command that lists a bot's commands: those that have a help text.
///
/// A bot without such texts has none, and a command of that name among the bot's own goes before it.
public enum BotHelp: Sendable, Hashable {
    /// `/help` lists all, `/help roll` tells of one.
    case command(String, prefix: String = "/")
    case off

    /// The handler, to stand behind the bot's own; nil if there is nothing to list.
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
            return "no command is named \(name)" + (nearest.map { "; did you mean \($0)?" } ?? "")
        }
        return wanted.map { "\($0.line)\n\($0.help ?? "")" }.joined(separator: "\n")
    }
}
