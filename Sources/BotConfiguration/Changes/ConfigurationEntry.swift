import BotDispatch
import BotKit
import Nostr
import PikaCore
import ProcessSupport

/// One value of a configuration with its path, for comparing configurations.
struct ConfigurationEntry: Hashable {
    /// The names of the keys, without the names of accounts and bots.
    let keys: [String]
    let path: String
    /// Equal if and only if the values are equal.
    let text: String
    /// The printable value.
    let shown: String
}

extension Configuration {
    /// The entries that all accounts share.
    var sharedEntries: [ConfigurationEntry] {
        var entries = EntryList(keys: [], path: "")
        entries.add("relays", yamlList(relays.map(\.string)))
        entries.add("relays", "private", allowsPrivateAddresses ? "allow" : "refuse")
        entries.add("state", "directory", yamlText(stateDirectory))
        entries.add("media", "servers", yamlList(media.servers.map(\.description)))
        entries.add("media", "cache", sizeText(media.cacheBytes))
        entries.add("databases", "size", sizeText(databases.bytes))
        entries.add("databases", "timeout", databases.timeout.configurationText)
        entries.add("databases", "backup", databases.backup?.configurationText ?? "never")
        entries.add("calls", "relay", calls.relay?.string)
        entries.add("calls", "longest", calls.longest.configurationText)
        entries.add("supervisor", "restart", "strategy", supervisor.strategy.rawValue)
        entries.add("supervisor", "restart", "intensity", "\(supervisor.intensity)")
        entries.add("supervisor", "restart", "period", supervisor.period.configurationText)
        entries.add("supervisor", "restart", "backoff", configurationText(supervisor.backoff))
        entries.add("supervisor", "drain", supervisor.drain.configurationText)
        entries.add("supervisor", "patience", supervisor.patience.configurationText)
        entries.add("supervisor", "control", supervisor.control.map(yamlText))
        entries.add("observe", "listen", observe.listen?.description)
        entries.add("observe", "hosts", yamlList(observe.hosts))
        entries.add("observe", "canary", "every", observe.canary?.configurationText ?? "never")
        entries.add("observe", "canary", "budget", observe.canaryBudget.configurationText)
        entries.add("observe", "logs", observe.logs.rawValue)
        entries.add("observe", "level", observe.level.rawValue)
        if let console = observe.console {
            entries.add("observe", "console", "listen", console.listen.description)
            entries.add("observe", "console", "hosts", yamlList(console.hosts))
            entries.add("observe", "console", "tls", "certificate", (console.tls?.certificate).map(yamlText))
            entries.add("observe", "console", "tls", "key", (console.tls?.key).map(yamlText))
            entries.add("observe", "console", "behindProxy", console.behindProxy)
            entries.add("observe", "console", "contents", "\(console.contents)")
            entries.add("observe", "console", "operators", yamlList(console.operators))
            entries.add("observe", "console", "viewers", yamlList(console.viewers))
            entries.add("observe", "console", "reports", console.reports.map(yamlText))
        }
        return entries.all
    }
}

extension AccountConfiguration {
    /// The account's entries, except the name and the bots.
    var entries: [ConfigurationEntry] {
        var entries = EntryList(keys: ["accounts"], path: "accounts[\(name)]")
        entries.add("key", "{ \(key.redactedDescription) }")
        switch invites {
        case .anyone: entries.add("invites", "accept", "anyone")
        case .nobody: entries.add("invites", "accept", "nobody")
        case .allowlist(let keys):
            entries.add("invites", "accept", "allowlist")
            entries.add("invites", "from", yamlList(keys))
        }
        entries.add("invites", "perInviter", configurationText(inviteLimit))
        entries.add("operators", yamlList(operators))
        entries.add("restart", restart.rawValue)
        entries.add("selfUpdate", "afterJoining", selfUpdate.afterJoining.map { configurationText($0) } ?? "never")
        entries.add("selfUpdate", "every", selfUpdate.every?.configurationText ?? "never")
        entries.add("retention", "messages", retention.messages?.configurationText ?? "forever")
        entries.add("retention", "newest", retention.newestMessages.map(String.init) ?? "all")
        entries.add("retention", "unhandled", retention.unhandled?.configurationText ?? "forever")
        entries.add("retention", "maximumUnhandled", "\(retention.maximumUnhandled)")
        entries.add("profiles", "\(profiles)")
        entries.add("onRollbackStorm", onRollbackStorm.rawValue)
        entries.add("protocol", groupProtocol.rawValue)
        entries.add("webhooks", webhooks.description)
        for feed in feeds { entries.add("feeds", feed.name, feed.configurationText) }
        return entries.all
    }
}

extension BotConfiguration {
    /// The bot's kind: `use` with the built-in bot's name, or `command`.
    package var kind: String {
        switch source {
        case .included(let use, _): "use: \(yamlText(use))"
        case .external: "command"
        }
    }

    /// The bot's entries, except the name.
    func entries(in account: String) -> [ConfigurationEntry] {
        var entries = EntryList(keys: ["accounts", "bots"], path: "accounts[\(account)].bots[\(name)]")
        entries.add("groups", "default", policy.groups.standard.rawValue)
        for (chat, scope) in policy.groups.exceptions.sorted(by: { $0.key < $1.key }) {
            entries.add("groups", "chats", chat.rawValue, scope.rawValue)
        }
        entries.add("triggers", policy.triggers.configurationText)
        entries.add("limits", "perSender", configurationText(policy.limits.perSender))
        entries.add("limits", "perGroup", configurationText(policy.limits.perGroup))
        entries.add("limits", "botPair", "\(policy.limits.botPair)")
        entries.add("timeout", policy.timeout.configurationText)
        switch source {
        case .included(_, .object(let members)):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                entries.add(
                    ["with", name], value.exactDescription, shown: value.redactedDescription(under: name))
            }
        case .included(_, let settings): entries.add(["with"], settings.exactDescription, shown: "(not shown)")
        case .external(let program): entries.add(program)
        }
        return entries.all
    }
}

/// A builder of entries below one path.
private struct EntryList {
    let keys: [String]
    let path: String
    private(set) var all: [ConfigurationEntry] = []

    init(keys: [String], path: String) {
        self.keys = keys
        self.path = path
    }

    /// Appends an entry; the last argument is the value, the others its keys. A nil value adds nothing.
    mutating func add(_ keysAndText: String?...) {
        guard let text = keysAndText.last ?? nil else { return }
        add(keysAndText.dropLast().compactMap { $0 }, text, shown: text)
    }

    mutating func add(_ names: [String], _ text: String, shown: String) {
        let path = ([self.path] + names).filter { !$0.isEmpty }.joined(separator: ".")
        all.append(ConfigurationEntry(keys: keys + names, path: path, text: text, shown: shown))
    }

    mutating func add(_ program: ExternalBotConfiguration) {
        add("command", yamlList(program.command))
        add("allow", "commands", yamlList(program.commands.sorted()))
        add("allow", "groups", program.groups.map { yamlList($0.map(\.rawValue).sorted()) } ?? "all")
        add("directory", yamlText(program.directory))
        for (name, variable) in program.environment.sorted(by: { $0.key < $1.key }) {
            add("environment", name, variable.configurationText)
        }
        add("restart", program.restart.rawValue)
    }
}
