package import BotConfiguration

/// The part of a shared configuration file that applies to one process: its accounts, and the address of its endpoint.
package struct Placement: Hashable, Sendable {
    /// The shard; nil for all accounts.
    package var shard: Shard?
    /// The address for health and metrics; nil for the one in the file.
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
            placed.supervisor.control = shard.path(for: configuration.controlPath)
        }
        return placed
    }
}
