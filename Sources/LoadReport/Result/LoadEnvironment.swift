/// Environment of the run.
public struct LoadEnvironment: Codable, Equatable, Sendable {
    public var host: HostFacts
    /// Software and version: `pikabot 0.6.0`.
    public var software: String
    /// Storage of the agents' state: `memory`, `disk /var/lib/…`.
    public var store: String
    public var relays: [String]
    /// Further notes: `relay: nostr-sdk LocalRelay, same machine`.
    public var notes: [String]

    public init(host: HostFacts, software: String, store: String, relays: [String], notes: [String] = []) {
        self.host = host
        self.software = software
        self.store = store
        self.relays = relays
        self.notes = notes
    }
}

/// Machine, operating system and build.
public struct HostFacts: Codable, Equatable, Sendable {
    public var name: String
    public var processor: String
    public var processors: Int
    public var memoryBytes: UInt64
    public var system: String
    public var kernel: String
    /// The compiler: `Swift 6.3`.
    public var compiler: String
    /// `release`, or `debug`, whose figures are not representative.
    public var build: String

    public init(
        name: String, processor: String, processors: Int, memoryBytes: UInt64, system: String, kernel: String,
        compiler: String, build: String
    ) {
        self.name = name
        self.processor = processor
        self.processors = processors
        self.memoryBytes = memoryBytes
        self.system = system
        self.kernel = kernel
        self.compiler = compiler
        self.build = build
    }
}

/// Resource usage of the generator, including the agents in its process.
public struct GeneratorCost: Codable, Equatable, Sendable {
    /// CPU seconds of the run.
    public var userSeconds: Double
    public var systemSeconds: Double
    public var peakMemoryBytes: UInt64
    /// Delay of starts against the plan; nil when no operation had an intended start.
    public var lag: LatencySummary?

    public init(userSeconds: Double, systemSeconds: Double, peakMemoryBytes: UInt64, lag: LatencySummary?) {
        self.userSeconds = userSeconds
        self.systemSeconds = systemSeconds
        self.peakMemoryBytes = peakMemoryBytes
        self.lag = lag
    }
}
