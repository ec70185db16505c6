import BotDispatch
import BotKit
import Nostr

extension Configuration {
    /// The resolved configuration as YAML, every default written out, without secrets: keys are references, and
    /// settings whose name speaks of a secret are left out.
    public var redactedDescription: String {
        var lines = ["version: \(Configuration.currentVersion)"]
        lines.append("relays: [\(relays.map { text($0.string) }.joined(separator: ", "))]")
        lines.append("state: { directory: \(text(stateDirectory)) }")
        lines.append("accounts:")
        for account in accounts { lines += account.redactedLines.map { "  " + $0 } }
        lines.append("media: { servers: [\(media.servers.map { text($0.description) }.joined(separator: ", "))] }")
        let restart = [
            "strategy: \(supervisor.strategy.rawValue)", "intensity: \(supervisor.intensity)",
            "period: \(supervisor.period.configurationText)",
            "backoff: \(supervisor.backoff.lowerBound.configurationText)..\(supervisor.backoff.upperBound.configurationText)",
        ]
        lines.append(
            "supervisor: { restart: { \(restart.joined(separator: ", ")) }, drain: \(supervisor.drain.configurationText) }"
        )
        let listen = observe.listen.map { "listen: \(text($0.description)), " } ?? ""
        lines.append("observe: { \(listen)logs: \(observe.logs.rawValue), level: \(observe.level.rawValue) }")
        return lines.joined(separator: "\n") + "\n"
    }
}

extension AccountConfiguration {
    fileprivate var redactedLines: [String] {
        var lines = ["- name: \(name)", "  key: { \(key.redactedDescription) }"]
        switch invites {
        case .anyone: lines.append("  invites: { accept: anyone }")
        case .nobody: lines.append("  invites: { accept: nobody }")
        case .allowlist(let keys):
            let list = keys.sorted().map(\.npub).joined(separator: ", ")
            lines.append("  invites: { accept: allowlist, from: [\(list)] }")
        }
        let after = selfUpdate.afterJoining.map {
            "\($0.lowerBound.configurationText)..\($0.upperBound.configurationText)"
        }
        let every = selfUpdate.every?.configurationText
        lines.append("  selfUpdate: { afterJoining: \(after ?? "never"), every: \(every ?? "never") }")
        lines.append("  retention: \(retention.configurationText)")
        lines.append("  profiles: \(profiles)")
        lines.append(bots.isEmpty ? "  bots: []" : "  bots:")
        for bot in bots { lines += bot.redactedLines.map { "    " + $0 } }
        return lines
    }
}

extension BotConfiguration {
    fileprivate var redactedLines: [String] {
        let limits = policy.limits
        let rates = [("perSender", limits.perSender), ("perGroup", limits.perGroup)].compactMap { name, rate in
            rate.map { "\(name): \($0), " }
        }
        var lines: [String] = []
        switch source {
        case .included(let name, let settings):
            lines = ["- use: \(name)", "  with: \(settings.redactedDescription)"]
        case .external(let program):
            lines = ["- command: [\(program.command.map(text).joined(separator: ", "))]"]
        }
        lines.insert("  groups: { default: \(policy.groups.standard.rawValue) }", at: 1)
        lines.insert("  limits: { \(rates.joined())botPair: \(limits.botPair) }", at: 2)
        return lines
    }
}

extension KeyReference {
    fileprivate var redactedDescription: String {
        switch self {
        case .file(let path): "file: \(text(path))"
        case .environment(let name): "env: \(name)"
        case .credential(let name): "credential: \(text(name))"
        case .command(let words): "command: [\(words.map(text).joined(separator: ", "))]"
        case .encrypted(let key, let password):
            "ncryptsec: { \(key.redactedDescription) }, password: { \(password.redactedDescription) }"
        case .bunker(let address): "bunker: { \(address.redactedDescription) }"
        }
    }
}

extension BotSettings {
    private static let secretWords = [
        "secret", "token", "password", "passphrase", "apikey", "api_key", "authorization",
    ]

    fileprivate var redactedDescription: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .int(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .string(let value): return text(value)
        case .array(let values): return "[\(values.map(\.redactedDescription).joined(separator: ", "))]"
        case .object(let members):
            guard !members.isEmpty else { return "{}" }
            let pairs = members.sorted { $0.key < $1.key }.map { key, value in
                let isSecret = Self.secretWords.contains { key.lowercased().contains($0) }
                return "\(text(key)): \(isSecret ? "(not shown)" : value.redactedDescription)"
            }
            return "{ \(pairs.joined(separator: ", ")) }"
        }
    }
}

/// A text as YAML: plain where that reads back as the same text, in double quotes otherwise.
private func text(_ string: String) -> String {
    let safe = string.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-./".contains($0)) }
    if safe, string.first?.isLetter == true || string.hasPrefix("/") || string.hasPrefix("./"),
        BotSettings(plainScalar: string) == .string(string)
    {
        return string
    }
    var quoted = "\""
    for scalar in string.unicodeScalars {
        switch scalar {
        case "\"": quoted += "\\\""
        case "\\": quoted += "\\\\"
        case "\n": quoted += "\\n"
        case "\t": quoted += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            quoted += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}
