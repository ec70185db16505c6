import BotConfiguration
import BotProgram
import Nostr
import PikaCore

/// The choices given on the command line; nil for the others.
struct SetupDraft: Hashable, Sendable {
    static let standardName = "greeter"
    static let standardBot = "echo"

    var relays: [RelayURL]?
    var invites: InvitePolicy?
    var bot: SetupBot?

    /// Returns complete answers; asks for each missing one.
    ///
    /// - Parameter standardRelays: the relays if the answer is empty.
    func completed(
        name: SetupName, standardRelays: [RelayURL], by questions: SetupQuestions
    ) throws -> SetupAnswers {
        let bot = try self.bot ?? questions.bot(standard: Self.standardBot)
        let relays = try self.relays ?? questions.relays(standard: standardRelays)
        let invites = try self.invites ?? questions.invites()
        return SetupAnswers(name: name, relays: relays, invites: invites, bot: bot)
    }

    /// Returns complete answers without asking. The invitations have no default, because they decide who reaches the bot.
    func completed(name: SetupName, standardRelays: [RelayURL]) throws -> SetupAnswers {
        guard let invites else {
            throw CommandError("--invites is missing; with --yes it has no default: \(InvitePolicy.choices)")
        }
        let bot = try self.bot ?? SetupBot(Self.standardBot)
        return SetupAnswers(name: name, relays: relays ?? standardRelays, invites: invites, bot: bot)
    }

    /// Returns the options that differ from an existing configuration, as texts for an error.
    func conflicts(with configuration: Configuration, _ account: AccountConfiguration) -> [String] {
        var found: [String] = []
        if let relays, Set(relays) != Set(configuration.relays) { found.append("--relay") }
        if let invites, invites != account.invites { found.append("--invites") }
        if let bot, !account.bots.contains(where: { bot.isSource($0.source) }) { found.append("--bot") }
        return found
    }
}

extension SetupBot {
    /// Whether a configuration's bot is this one, whatever its settings.
    fileprivate func isSource(_ source: BotConfiguration.Source) -> Bool {
        switch (self, source) {
        case (.echo, .included("echo", _)), (.notes, .included("notes", _)), (.responder, .included("responder", _)):
            true
        case (.program(let path), .external(let program)): program.command.contains(path)
        default: false
        }
    }
}

/// Asks for answers, each until it is valid.
struct SetupQuestions: Sendable {
    /// Shows a prompt and returns the typed line; nil at the end of the input.
    let ask: @Sendable (String) -> String?
    /// Shows why an answer is refused.
    let refuse: @Sendable (String) -> Void

    func name(standard: String) throws(CommandError) -> SetupName {
        try answer("Name of the account, from a-z, 0-9 and - [\(standard)]: ", "NAME") { text throws(CommandError) in
            try SetupName(text.isEmpty ? standard : text)
        }
    }

    func bot(standard: String) throws(CommandError) -> SetupBot {
        try answer("Bot: \(SetupBot.choices) [\(standard)]: ", "--bot") { text throws(CommandError) in
            try SetupBot(text.isEmpty ? standard : text)
        }
    }

    func relays(standard: [RelayURL]) throws(CommandError) -> [RelayURL] {
        let names = standard.map(\.string).joined(separator: " ")
        return try answer("Relays, separated by spaces [\(names)]: ", "--relay") { text throws(CommandError) in
            text.isEmpty ? standard : try [RelayURL](setup: [text])
        }
    }

    func invites() throws(CommandError) -> InvitePolicy {
        try answer("Who may invite it into groups: \(InvitePolicy.choices): ", "--invites") {
            text throws(CommandError) in
            try InvitePolicy(setup: [text])
        }
    }

    private func answer<Answer>(
        _ prompt: String, _ option: String, _ parse: (String) throws(CommandError) -> Answer
    ) throws(CommandError) -> Answer {
        while let line = ask(prompt) {
            do throws(CommandError) { return try parse(line.trimmed) } catch { refuse(error.description) }
        }
        throw CommandError("\(option) is missing, and the input has ended; give it on the command line")
    }
}
