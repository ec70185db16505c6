import BotKit
import Foundation

extension Trigger {
    /// Keys of `when:` that concern messages and can be combined.
    private static let messageKeys = [
        "command", "aliases", "prefix", "help", "mention", "direct", "match", "startsWith", "contains", "equals", "any",
        "reaction", "kind",
    ]
    /// Keys that cannot be combined with others.
    private static let otherKeys = ["schedule", "feed", "joined", "left", "removed", "call"]

    static func read(_ reader: SettingsReader?, _ defaults: RuleDefaults) -> Trigger? {
        guard let reader else { return nil }
        let others = otherKeys.filter(reader.has)
        let messages = messageKeys.filter(reader.has)
        guard others.count + (messages.isEmpty ? 0 : 1) == 1 else {
            for key in otherKeys + messageKeys { _ = reader.value(key) }
            reader.fail(
                nil, expected: "one kind of event",
                found: (others + messages).isEmpty ? "none" : "\((others + messages).joined(separator: ", "))",
                fix: "name one of command, mention, match, startsWith, contains, equals, any, reaction, kind, "
                    + "\(otherKeys.joined(separator: ", "))")
            return nil
        }
        switch others.first {
        case "schedule": return reader.timetable("schedule", defaults).map { .schedule($0) }
        case "feed": return reader.string("feed").map { .feed($0) }
        case "joined":
            return reader.choice("joined", of: Whose.self).map { $0 == .ours ? .arrival : .membership(.joined) }
        case "left": return reader.others("left").map { .membership(.left) }
        case "removed": return reader.others("removed").map { .membership(.removed) }
        case "call": return reader.choice("call", of: CallSignalKind.self).map { .call($0) }
        default: return MessageCondition.read(reader, defaults).map { .message($0) }
        }
    }

    private enum Whose: String, CaseIterable {
        case ours = "self"
        case others
    }
}

extension SettingsReader {
    /// Parses `others`, the only value: after the account itself has left or been removed, it cannot reply in the
    /// group.
    fileprivate func others(_ key: String) -> Void? {
        parsed(key, expected: "others", fix: "write \(key): others") { $0.stringValue == "others" ? () : nil }
    }

    fileprivate func timetable(_ key: String, _ defaults: RuleDefaults) -> Schedule? {
        guard let reader = object(key) else { return nil }
        let every = reader.duration("every")
        let cron = reader.string("cron")
        let zone = reader.timeZone("timeZone") ?? defaults.timeZone
        guard reader.has("every") != reader.has("cron") else {
            reader.fail(
                nil, expected: "every: or cron:", found: reader.has("cron") ? "both" : "neither",
                fix: "write { every: 1h } or { cron: \"0 9 * * 1-5\", timeZone: Europe/Berlin }")
            return nil
        }
        if let every {
            guard every >= .seconds(1) else {
                reader.fail("every", expected: "at least 1s", fix: "write a longer interval")
                return nil
            }
            return .every(every)
        }
        guard let cron else { return nil }
        do { return try Schedule(cron: cron, timeZone: zone.identifier) } catch {
            reader.fail(
                "cron", expected: "a cron expression of five fields",
                fix: "\(error.message); write for example \"0 9 * * 1-5\"")
            return nil
        }
    }
}

extension MessageCondition {
    fileprivate static func read(_ reader: SettingsReader, _ defaults: RuleDefaults) -> MessageCondition? {
        var condition = MessageCondition()
        condition.command = reader.commandName(defaults)
        condition.mention = reader.bool("mention")
        condition.direct = reader.bool("direct")
        condition.expression = reader.expression("match")
        condition.startsWith = reader.string("startsWith")?.lowercased()
        condition.contains = reader.string("contains")?.lowercased()
        condition.equals = reader.string("equals")?.lowercased()
        _ = reader.parsed("any", expected: "true", fix: "write any: true") { $0.boolValue == true ? () : nil }
        if let emoji = reader.string("reaction") {
            condition.kinds = [.reaction]
            condition.emoji = emoji == "any" ? nil : emoji
        }
        if let kinds = reader.kinds("kind") { condition.kinds = kinds }
        if reader.has("reaction"), reader.has("kind") {
            reader.fail("kind", expected: "either kind or reaction", fix: "remove one of them")
        }
        if reader.has("command"), reader.has("reaction") || reader.has("kind") {
            reader.fail("command", expected: "command without reaction or kind", fix: "remove one of them")
        }
        if (reader.has("command") && condition.command == nil) || (reader.has("match") && condition.expression == nil) {
            return nil
        }
        return condition
    }
}

extension SettingsReader {
    fileprivate func commandName(_ defaults: RuleDefaults) -> MessageCondition.CommandName? {
        let prefix = commandPrefix("prefix") ?? defaults.prefix
        let help = string("help") ?? ""
        let aliases = strings("aliases") ?? []
        for key in ["aliases", "prefix", "help"] where has(key) && !has("command") {
            fail(key, expected: "\(key) only together with command", fix: "add command: NAME")
        }
        guard let name = string("command") else { return nil }
        let names = ([name] + aliases).map { $0.lowercased() }
        for name in names where name.contains(where: \.isWhitespace) || name.hasPrefix(prefix) || name.count > 32 {
            fail(
                "command", expected: "1 to 32 characters without whitespace and without the prefix \(prefix)",
                found: "\"\(name)\"",
                fix: "write the bare name, such as ping")
            return nil
        }
        return .init(names: names, prefix: prefix, help: help)
    }

    fileprivate func expression(_ key: String) -> Expression? {
        guard let pattern = string(key) else { return nil }
        guard pattern.count <= 1_000, let expression = try? Expression(pattern) else {
            fail(
                key, expected: "a regular expression (ICU) of at most 1000 characters",
                fix: "check its brackets and backslashes; in YAML, put it in single quotes")
            return nil
        }
        return expression
    }

    /// Parses a number or a list of them.
    fileprivate func kinds(_ key: String) -> Set<Kind>? {
        guard let value = value(key) else { return nil }
        let kinds = (value.arrayValue ?? [value]).compactMap { $0.intValue.flatMap(UInt16.init(exactly:)) }
        guard !kinds.isEmpty, kinds.count == value.arrayValue?.count ?? 1 else {
            fail(key, expected: "an event kind from 0 to 65535, or a list of them", fix: "write a number in this range")
            return nil
        }
        return Set(kinds.map { Kind(rawValue: $0) })
    }
}
