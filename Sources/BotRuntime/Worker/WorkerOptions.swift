public import Nostr
public import Telemetry

/// The options of a worker besides its configuration file.
public struct WorkerOptions: Sendable {
    /// Parses the configuration in a `reload` question of the supervisor, without side effects; nil if the worker
    /// cannot reload.
    public var reload: (@Sendable (JSONValue) throws -> Configuration)?
    /// Applies the process-wide parts of a reloaded configuration.
    public var apply: (@Sendable (Configuration) -> Void)?
    /// Whether event lines contain the messages' text, shortened; otherwise only that there was one.
    public var reportsTraffic = false
    /// Whether the end of standard input ends the worker; it also signals a supervisor's death.
    public var endsWithStandardInput = true
    /// Whether SIGTERM and SIGINT end the worker; false inside a process with its own signal handling.
    public var handlesSignals = true
    /// The number of chats handled concurrently.
    public var parallelChats = 16
    /// The file with the key of the account's database; nil for `sealing.key` in its state directory.
    public var sealingKeyFile: String?
    /// The metrics of this process, which the supervisor can request.
    public var metrics = MetricRegistry()

    public init() {}
}
