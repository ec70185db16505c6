import BotKit
import Foundation

/// The settings of a responder under `with:`.
struct ResponderSettings: Sendable {
    static let maximumRules = 500

    let environment: ResponderEnvironment
    let rules: [Rule]

    /// Throws ``BotSettingsError`` with all problems.
    init(_ settings: BotSettings) throws(BotSettingsError) {
        let reader = SettingsReader(settings)
        let defaults = RuleDefaults(reader)
        let generator = SeedableGenerator(seed: reader.int("seed").map { UInt64($0) })
        environment = ResponderEnvironment(timeZone: defaults.timeZone, generator: generator)
        var number = 0
        var names: Set<String> = []
        rules = reader.list("rules", required: true) { (rule: SettingsReader) -> Rule? in
            number += 1
            guard var read = Rule.read(rule, number: number, defaults) else { return nil }
            if names.contains(read.name), rule.has("name") {
                rule.fail(
                    "name", expected: "a unique name", found: "another rule named \(read.name)",
                    fix: "give the rule a unique name:")
                return nil
            }
            if names.contains(read.name) { read.name += " #\(number)" }
            names.insert(read.name)
            return read
        }
        if number > Self.maximumRules {
            reader.fail("rules", expected: "at most \(Self.maximumRules) rules", found: "\(number)", fix: "use fewer")
        }
        try reader.finish()
    }
}

/// The defaults of all rules.
struct RuleDefaults {
    static let failure = "Sorry, that did not work."

    let prefix: String
    let hosts: HostList
    let timeZone: TimeZone
    let failure: String?

    init(_ reader: SettingsReader) {
        prefix = reader.commandPrefix("prefix") ?? "/"
        timeZone = reader.timeZone("timeZone") ?? .gmt
        hosts = reader.hostList("allow")
        failure = reader.failureText("failure", standard: Self.failure)
    }
}

extension SettingsReader {
    func commandPrefix(_ key: String) -> String? {
        parsed(key, expected: "1 to 4 characters without whitespace", fix: "write \(key): \"/\"") { value in
            value.stringValue.flatMap { (1...4).contains($0.count) && !$0.contains(where: \.isWhitespace) ? $0 : nil }
        }
    }

    func timeZone(_ key: String) -> TimeZone? {
        parsed(key, expected: "a time zone", fix: "write a name such as Europe/Berlin or UTC") { value in
            value.stringValue.flatMap { TimeZone(identifier: $0) }
        }
    }

    /// Parses a failure text; nil for `none`.
    func failureText(_ key: String, standard: String?) -> String? {
        guard let text = string(key) else { return standard }
        return text == "none" ? nil : text
    }

    fileprivate func hostList(_ key: String) -> HostList {
        let entries = values(key, of: "hosts") { value -> HostList.Entry? in
            if let text = value.stringValue { return HostList.Entry(text, isPrivate: false) }
            guard case .object(let members) = value, let host = members["host"]?.stringValue,
                let isPrivate = members["private"]?.boolValue, members.count == 2
            else { return nil }
            return HostList.Entry(host, isPrivate: isPrivate)
        }
        return HostList(entries: entries ?? [])
    }
}
