import BotKit

extension Rule {
    /// Parses a rule; nil, with problems in the reader, if it is invalid.
    static func read(_ reader: SettingsReader, number: Int, _ defaults: RuleDefaults) -> Rule? {
        let name = reader.string("name")
        let trigger = Trigger.read(reader.object("when", required: true), defaults)
        let only = reader.audience("only")
        let chats = reader.chatIDs("chats")
        let cooldown = reader.cooldown("cooldown")
        let stop = reader.bool("stop", default: true)
        let failure = reader.failureText("failure", standard: defaults.failure)
        let known = trigger.map { TextScope(trigger: $0) }
        let actions = Action.readAll(reader, known, defaults)
        guard let trigger, !actions.isEmpty else { return nil }
        if case .schedule = trigger {
            for key in ["only", "cooldown"] where reader.has(key) {
                reader.fail(
                    key, expected: "no \(key) for a schedule",
                    fix: "remove it: a schedule has no sender, and sets its own interval")
            }
        }
        if case .feed = trigger {
            if reader.has("only") {
                reader.fail("only", expected: "no only for a feed", fix: "remove it: an item has no sender")
            }
            // What arrives from outside must not go to every chat by accident.
            if chats?.isEmpty ?? true {
                reader.fail("chats", expected: "the chats of a feed's items", fix: "write chats: [CHATID]")
            }
        }
        return Rule(
            name: name ?? trigger.commandName ?? "rule \(number)", trigger: trigger, only: only,
            chats: chats.map { Set($0) }, cooldown: cooldown, stops: stop, actions: actions, failure: failure)
    }
}

extension Trigger {
    fileprivate var commandName: String? {
        if case .message(let condition) = self { condition.command?.names.first } else { nil }
    }
}

extension SettingsReader {
    /// Parses chat ids or nostrGroupIDs.
    func chatIDs(_ key: String) -> [ChatID]? {
        values(key, of: "chat ids (hexadecimal digits)") { value in
            value.stringValue.flatMap { ChatID(reference: $0) }
        }
    }

    /// Parses `admins`, `operators`, an npub, or a list of them.
    fileprivate func audience(_ key: String) -> Audience? {
        guard let value = value(key) else { return nil }
        var audience = Audience()
        for item in value.arrayValue ?? [value] {
            switch item.stringValue {
            case "admins": audience.admins = true
            case "operators": audience.operators = true
            case let text?:
                guard let member = try? PublicKey(parsing: text) else { fallthrough }
                audience.keys.insert(member)
            default:
                fail(
                    key, expected: "admins, operators, npubs, or a list of them",
                    fix: "write only: admins, or only: [operators, npub1…]")
                return nil
            }
        }
        return audience
    }

    /// Parses a duration, or `{ for: 1m, per: sender }`.
    fileprivate func cooldown(_ key: String) -> Cooldown? {
        guard let value = value(key) else { return nil }
        if case .object = value {
            guard let reader = object(key) else { return nil }
            let per = reader.choice("per", default: Cooldown.Scope.chat)
            return reader.duration("for", required: true).map { Cooldown(seconds: $0.roundedSeconds, per: per) }
        }
        return duration(key).map { Cooldown(seconds: $0.roundedSeconds, per: .chat) }
    }
}

extension Duration {
    /// The duration in seconds, rounded up.
    fileprivate var roundedSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
