package import BotConfiguration
package import Nostr
package import Telemetry

/// The options of a worker besides its configuration file.
package struct WorkerOptions: Sendable {
    /// Parses the configuration in a `reload` question of the supervisor, without side effects; nil if the worker
    /// cannot reload.
    package var reload: (@Sendable (JSONValue) throws -> Configuration)?
    /// Applies the process-wide parts of a reloaded configuration.
    package var apply: (@Sendable (Configuration) -> Void)?
    /// Whether event lines contain the messages' text, shortened; otherwise they only say that one arrived.
    package var reportsTraffic = false
    /// Whether the end of standard input ends the worker; it also signals a supervisor's death.
    package var endsWithStandardInput = true
    /// Whether SIGTERM and SIGINT end the worker; false inside a process with its own signal handling.
    package var handlesSignals = true
    /// The number of chats handled concurrently.
    package var parallelChats = 16
    /// The file with the key of the account's database; nil for `sealing.key` in its state directory.
    package var sealingKeyFile: String?
    /// The metrics of this process, which the supervisor can request.
    package var metrics = MetricRegistry()

    package init() {}
}
