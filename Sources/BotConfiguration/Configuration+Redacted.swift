import BotDispatch
import BotKit
import Nostr
import PikaCore
import ProcessSupport

extension Configuration {
    /// The resolved configuration as YAML, including all defaults, without secrets: keys are shown as references, and
    /// values of settings whose name suggests a secret are withheld.
    package var redactedDescription: String {
        var lines = ["version: \(Configuration.currentVersion)"]
        let urls = yamlList(relays.map(\.string))
        lines.append(allowsPrivateAddresses ? "relays: { urls: \(urls), private: allow }" : "relays: \(urls)")
        lines.append("state: { directory: \(yamlText(stateDirectory)) }")
        lines.append("accounts:")
        for account in accounts { lines += account.redactedLines.map { "  " + $0 } }
        let servers = yamlList(media.servers.map(\.description))
        lines.append("media: { servers: \(servers), cache: \(sizeText(media.cacheBytes)) }")
        lines.append("databases: \(databases.configurationText)")
        lines.append("calls: \(calls.configurationText)")
        lines.append("supervisor: \(supervisor.redactedDescription)")
        lines.append("observe: \(observe.redactedDescription)")
        return lines.joined(separator: "\n") + "\n"
    }
}

extension SupervisionConfiguration {
    fileprivate var redactedDescription: String {
        let restart = [
            "strategy: \(strategy.rawValue)", "intensity: \(intensity)", "period: \(period.configurationText)",
            "backoff: \(configurationText(backoff))",
        ]
        let control = control.map { ", control: \(yamlText($0))" } ?? ""
        return "{ restart: { \(restart.joined(separator: ", ")) }, drain: \(drain.configurationText), "
            + "patience: \(patience.configurationText)\(control) }"
    }
}

extension ObservationConfiguration {
    fileprivate var redactedDescription: String {
        let listen = listen.map { "listen: \(yamlText($0.description)), " } ?? ""
        let hosts = hosts.isEmpty ? "" : "hosts: \(yamlList(hosts)), "
        let canary = canary.map {
            "{ every: \($0.configurationText), budget: \(canaryBudget.configurationText) }"
        }
        let console = console.map { ", console: \($0.configurationText)" } ?? ""
        return "{ \(listen)\(hosts)canary: \(canary ?? "never"), logs: \(logs.rawValue), level: \(level.rawValue)"
            + "\(console) }"
    }
}

extension ConsoleConfiguration {
    fileprivate var configurationText: String {
        var members = ["listen: \(yamlText(listen.description))", "hosts: \(yamlList(hosts))"]
        if let tls {
            members.append("tls: { certificate: \(yamlText(tls.certificate)), key: \(yamlText(tls.key)) }")
        }
        if let behindProxy { members.append("behindProxy: \(yamlText(behindProxy))") }
        members += [
            "contents: \(contents)", "operators: \(yamlList(operators))", "viewers: \(yamlList(viewers))",
        ]
        if let reports { members.append("reports: \(yamlText(reports))") }
        return "{ \(members.joined(separator: ", ")) }"
    }
}

extension AccountConfiguration {
    fileprivate var redactedLines: [String] {
        var lines = ["- name: \(name)", "  key: { \(key.redactedDescription) }"]
        lines.append("  invites: { \(invites.redactedDescription), perInviter: \(configurationText(inviteLimit)) }")
        lines.append("  operators: \(yamlList(operators))")
        lines.append("  restart: \(restart.rawValue)")
        lines.append("  selfUpdate: \(selfUpdate.redactedDescription)")
        lines.append("  retention: \(retention.configurationText)")
        lines.append("  profiles: \(profiles)")
        lines.append("  onRollbackStorm: \(onRollbackStorm.rawValue)")
        lines.append("  protocol: \(groupProtocol.rawValue)")
        lines.append("  webhooks: \(yamlText(webhooks.description))")
        lines.append(feeds.isEmpty ? "  feeds: []" : "  feeds:")
        for feed in feeds { lines.append("    - \(feed.configurationText)") }
        lines.append(bots.isEmpty ? "  bots: []" : "  bots:")
        for bot in bots { lines += bot.redactedLines.map { "    " + $0 } }
        return lines
    }
}

extension InvitePolicy {
    fileprivate var redactedDescription: String {
        switch self {
        case .anyone: "accept: anyone"
        case .nobody: "accept: nobody"
        case .allowlist(let keys): "accept: allowlist, from: \(yamlList(keys))"
        }
    }
}

extension SelfUpdatePolicy {
    fileprivate var redactedDescription: String {
        let after = afterJoining.map { configurationText($0) } ?? "never"
        return "{ afterJoining: \(after), every: \(every?.configurationText ?? "never") }"
    }
}

extension BotConfiguration {
    fileprivate var redactedLines: [String] {
        let named = name.contains("#") ? [] : ["  name: \(yamlText(name))"]
        switch source {
        case .included(let use, let settings):
            return ["- use: \(yamlText(use))"] + named + policy.redactedLines
                + ["  with: \(settings.redactedDescription)"]
        case .external(let program):
            return ["- command: \(yamlList(program.command))"] + named + policy.redactedLines + program.redactedLines
        }
    }
}

extension BotPolicy {
    fileprivate var redactedLines: [String] {
        let chats = groups.exceptions.sorted { $0.key < $1.key }.map { chatID, scope in
            "\(yamlText(chatID.rawValue)): \(scope.rawValue)"
        }
        let exceptions = chats.isEmpty ? "" : ", chats: { \(chats.joined(separator: ", ")) }"
        let limits = [
            "perSender: \(configurationText(limits.perSender))", "perGroup: \(configurationText(limits.perGroup))",
            "botPair: \(limits.botPair)",
        ]
        return [
            "  groups: { default: \(groups.standard.rawValue)\(exceptions) }",
            "  triggers: \(triggers.configurationText)", "  limits: { \(limits.joined(separator: ", ")) }",
            "  timeout: \(timeout.configurationText)",
        ]
    }
}

extension TriggerPolicy {
    var configurationText: String {
        switch self {
        case .members: "members"
        case .admins: "admins"
        case .nobody: "nobody"
        case .allowlist(let keys): "{ allow: \(yamlList(keys)) }"
        }
    }
}

extension ExternalBotConfiguration {
    fileprivate var redactedLines: [String] {
        let chats = groups.map { yamlList($0.map(\.rawValue).sorted()) } ?? "all"
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.configurationText)" }
        return [
            "  allow: { commands: \(yamlList(commands.sorted())), groups: \(chats) }",
            "  directory: \(yamlText(directory))",
            "  environment: " + (variables.isEmpty ? "{}" : "{ \(variables.joined(separator: ", ")) }"),
            "  restart: \(restart.rawValue)",
        ]
    }
}

extension ExternalBotConfiguration.Variable {
    var configurationText: String {
        switch self {
        case .text(let value): yamlText(value)
        case .secret(let reference): "{ \(reference.redactedDescription) }"
        }
    }
}

extension KeyReference {
    var redactedDescription: String {
        switch self {
        case .file(let path): "file: \(yamlText(path))"
        case .environment(let name): "env: \(name)"
        case .credential(let name): "credential: \(yamlText(name))"
        case .command(let words): "command: \(yamlList(words))"
        case .encrypted(let key, let password):
            "ncryptsec: { \(key.redactedDescription) }, password: { \(password.redactedDescription) }"
        case .bunker(let address): "bunker: { \(address.redactedDescription) }"
        }
    }
}

extension BotSettings {
    var redactedDescription: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .int(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .string(let value): return yamlText(value)
        case .array(let values): return "[\(values.map(\.redactedDescription).joined(separator: ", "))]"
        case .object(let members):
            guard !members.isEmpty else { return "{}" }
            let pairs = members.sorted { $0.key < $1.key }.map { key, value in
                "\(yamlText(key)): \(value.redactedDescription(under: key))"
            }
            return "{ \(pairs.joined(separator: ", ")) }"
        }
    }

    /// Returns the printable value of a setting with this name.
    func redactedDescription(under name: String) -> String {
        guard SecretNames.suggestsSecret(name) else { return redactedDescription }
        // Only a reference is safe to show.
        if case .object(let members) = self, ConfigurationSchema.secret.names.contains(where: { members[$0] != nil }) {
            return redactedDescription
        }
        return "(not shown)"
    }

    /// The value including the parts that ``redactedDescription`` withholds; for comparisons.
    var exactDescription: String {
        switch self {
        case .array(let values): "[\(values.map(\.exactDescription).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\(yamlText($0)): \($1.exactDescription)" }.joined(separator: ", "))}"
        case .null, .bool, .int, .double, .string: redactedDescription
        }
    }
}
