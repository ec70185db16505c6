package import BotRuntime

/// What one process makes of a configuration file that several may share: which accounts it has, and where it listens.
package struct Placement: Hashable, Sendable {
    /// Nil: all accounts.
    package var shard: Shard?
    /// Of health and metrics; nil: as the file says.
    package var listen: ListenAddress?

    package init(shard: Shard? = nil, listen: ListenAddress? = nil) {
        self.shard = shard
        self.listen = listen
    }

    package func applied(to file: ConfigurationFile) -> ConfigurationFile {
        var placed = file
        placed.configuration = applied(to: file.configuration)
        return placed
    }

    package func applied(to configuration: Configuration) -> Configuration {
        var placed = configuration
        if let listen { placed.observe.listen = listen }
        if let shard {
            placed.accounts = configuration.accounts.enumerated().filter { shard.has(position: $0.offset) }
                .map(\.element)
            placed.supervisor.control = shard.own(configuration.controlPath)
        }
        return placed
    }
}
