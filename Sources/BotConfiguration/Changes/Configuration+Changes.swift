extension Configuration {
    /// Returns the differences to a new configuration, in the order of the file, and the effect of each.
    ///
    /// Accounts and bots are identified by their names: renaming one removes it and adds another.
    package func changes(to new: Configuration) -> [ConfigurationChange] {
        var changes = Self.changes(sharedEntries, new.sharedEntries, account: nil)
        let (oldNames, newNames) = (accounts.map(\.name), new.accounts.map(\.name))
        // The order matters only for this strategy.
        if new.supervisor.strategy == .restForOne, !newNames.starts(with: oldNames.filter(newNames.contains)) {
            changes.append(
                ConfigurationChange(
                    path: "accounts", account: nil, old: yamlList(oldNames), new: yamlList(newNames),
                    effect: .restartsSupervisor))
        }
        for account in accounts where !newNames.contains(account.name) {
            changes.append(
                ConfigurationChange(
                    path: "accounts[\(account.name)]", account: account.name, old: account.summary, new: nil,
                    effect: .removesAccount))
        }
        for account in new.accounts {
            if let old = accounts.first(where: { $0.name == account.name }) {
                changes += old.changes(to: account)
            } else {
                changes.append(
                    ConfigurationChange(
                        path: "accounts[\(account.name)]", account: account.name, old: nil, new: account.summary,
                        effect: .addsAccount))
            }
        }
        return changes
    }

    /// Returns the differences between the entries of the same part of two files.
    fileprivate static func changes(
        _ old: [ConfigurationEntry], _ new: [ConfigurationEntry], account: String?
    ) -> [ConfigurationChange] {
        func change(_ old: ConfigurationEntry?, _ new: ConfigurationEntry?) -> ConfigurationChange? {
            guard let entry = new ?? old, old?.text != new?.text else { return nil }
            return ConfigurationChange(
                path: entry.path, account: account, old: old?.shown, new: new?.shown,
                effect: ConfigurationSchema.effect(of: entry.keys) ?? .restartsSupervisor)
        }
        let oldByPath = Dictionary(old.map { ($0.path, $0) }) { first, _ in first }
        let newPaths = Set(new.map(\.path))
        let gone = old.filter { !newPaths.contains($0.path) }.compactMap { change($0, nil) }
        return gone + new.compactMap { change(oldByPath[$0.path], $0) }
    }
}

extension AccountConfiguration {
    fileprivate var summary: String { "an account with bots \(yamlList(bots.map(\.name)))" }

    fileprivate func changes(to new: AccountConfiguration) -> [ConfigurationChange] {
        var changes = Configuration.changes(entries, new.entries, account: name)
        let (oldNames, newNames) = (bots.map(\.name), new.bots.map(\.name))
        if oldNames != newNames {
            changes.append(
                ConfigurationChange(
                    path: "accounts[\(name)].bots", account: name, old: yamlList(oldNames), new: yamlList(newNames),
                    effect: .restartsWorker))
        }
        for bot in new.bots {
            guard let old = bots.first(where: { $0.name == bot.name }) else { continue }
            if old.kind == bot.kind {
                changes += Configuration.changes(old.entries(in: name), bot.entries(in: name), account: name)
            } else {
                changes.append(
                    ConfigurationChange(
                        path: "accounts[\(name)].bots[\(bot.name)]", account: name, old: old.kind, new: bot.kind,
                        effect: .restartsWorker))
            }
        }
        return changes
    }
}
