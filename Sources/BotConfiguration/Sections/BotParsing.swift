import BotDispatch
import BotKit
import Yams

extension ConfigurationParser {
    func bots(_ value: ConfigurationValue) -> [BotConfiguration]? {
        let fix = "write bots: and below it - use: … or - command: […]"
        guard let items = value.list(of: "bots", fix: fix) else { return nil }
        // Explicit names are kept; default names must avoid them.
        var names: Set<String> = []
        let written = items.map { botName($0, &names) }
        return zip(items, written).compactMap { item, written in
            guard var bot = bot(item) else { return nil }
            if let written {
                bot.name = written
            } else {
                bot.name = uniqueName(bot.name, names)
                names.insert(bot.name)
            }
            return bot
        }
    }

    /// Returns the name, with a number appended if it is taken.
    private func uniqueName(_ name: String, _ taken: Set<String>) -> String {
        var candidate = name
        var place = 1
        while taken.contains(candidate) {
            place += 1
            candidate = "\(name)#\(place)"
        }
        return candidate
    }

    /// Parses the explicit name of a bot; nil if it is absent or already in use.
    private func botName(_ value: ConfigurationValue, _ names: inout Set<String>) -> String? {
        guard let pair = value.node.mapping?.first(where: { $0.key.string == "name" }) else { return nil }
        let place = ConfigurationValue(node: pair.value, keyPath: "\(value.keyPath).name", problems: value.problems)
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-_")
        let name = place.parsed(
            { (1...32).contains($0.count) && $0.allSatisfy(letters.contains) ? $0 : nil },
            expected: "1 to 32 characters from a-z, 0-9, - and _", fix: "write for example name: helper")
        guard let name else { return nil }
        if !names.insert(name).inserted {
            place.fail(expected: "a name that no other bot of the account has", fix: "rename one of the two")
        }
        return name
    }

    /// Parses a bot, with its default name.
    private func bot(_ value: ConfigurationValue) -> BotConfiguration? {
        let keys = value.node.mapping?.keys.compactMap(\.string) ?? []
        switch (keys.contains("use"), keys.contains("command")) {
        case (true, true):
            value.fail(
                expected: "one of use, command", found: "both",
                fix: "keep use: for a built-in bot, or command: for an external bot")
            return nil
        case (false, true): return externalBot(value)
        case (true, false): return includedBot(value)
        case (false, false):
            // A misspelt key is reported by the parser of the bot kind that was probably meant.
            let nearest = keys.lazy.compactMap { nearestName(to: $0, in: ["use", "command"]) }.first
            if nearest == "command" { return externalBot(value) }
            guard nearest == nil, value.node.mapping != nil else { return includedBot(value) }
            value.fail(
                expected: "one of the keys use, command", found: "none",
                fix: "add use: \(known.names.first ?? "NAME") or command: [PROGRAM]")
            return nil
        }
    }

    private func includedBot(_ value: ConfigurationValue) -> BotConfiguration? {
        guard let fields = value.fields(ConfigurationSchema.includedBot) else { return nil }
        let use = fields.required("use").flatMap(includedName)
        let policy = self.policy(fields)
        var settings = BotSettings.object([:])
        if let with = fields.optional("with") {
            if with.node.mapping == nil {
                with.fail(expected: "a mapping", fix: "write with: { key: value } or remove it")
                return nil
            }
            settings = with.settings
        }
        guard let use else { return nil }
        for problem in known.validate(use, settings) { value.problems.add(problem, below: "\(value.keyPath).with") }
        return BotConfiguration(name: use, source: .included(use, settings), policy: policy)
    }

    private func includedName(_ value: ConfigurationValue) -> String? {
        let names = known.names
        return value.word(
            in: names,
            expected: names.isEmpty ? "a built-in bot, but this program has none" : "a bot: \(oneOf(names))",
            fix: "name a built-in bot", advice: { "write use: \($0)" })
    }
}
