public import Nostr
public import Telemetry

/// How a worker runs, besides what its configuration file says.
public struct WorkerOptions: Sendable {
    /// Makes a configuration of the question `reload` of the supervisor, and changes nothing; nil: the worker cannot be
    /// told of another one.
    public var reload: (@Sendable (JSONValue) throws -> Configuration)?
    /// Applies what is the whole process's of a configuration that the worker has taken over.
    public var apply: (@Sendable (Configuration) -> Void)?
    /// Whether event lines carry what messages say, shortened; otherwise only that there was one.
    public var reportsTraffic = false
    /// Whether the end of standard input is the order to end; it is what a supervisor's death looks like.
    public var endsWithStandardInput = true
    /// Whether SIGTERM and SIGINT are the order to end; false inside a process that has its own handling.
    public var handlesSignals = true
    /// Chats handled at the same time.
    public var parallelChats = 16
    /// The file that holds the key of the account's database; nil for `sealing.key` in its state directory.
    public var sealingKeyFile: String?
    /// Where this process's metrics are: what the supervisor gets that asks for them.
    public var metrics = MetricRegistry()

    public init() {}
}
