/// Where and with what the run was made.
public struct LoadEnvironment: Codable, Equatable, Sendable {
    public var host: HostFacts
    /// The software and its version: `pikabot 0.6.0`.
    public var software: String
    /// Where the agents keep their state: `memory`, `disk /var/lib/…`.
    public var store: String
    public var relays: [String]
    /// Anything else a reader should know: `relay: nostr-sdk LocalRelay, same machine`.
    public var notes: [String]

    public init(host: HostFacts, software: String, store: String, relays: [String], notes: [String] = []) {
        self.host = host
        self.software = software
        self.store = store
        self.relays = relays
        self.notes = notes
    }
}

/// The machine, its system, and how this program was built.
public struct HostFacts: Codable, Equatable, Sendable {
    public var name: String
    public var processor: String
    public var processors: Int
    public var memoryBytes: UInt64
    public var system: String
    public var kernel: String
    /// The compiler: `Swift 6.3`.
    public var compiler: String
    /// `release`, or `debug`, whose figures say nothing about the program.
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

/// What the generator itself cost, agents included: they are in its process.
public struct GeneratorCost: Codable, Equatable, Sendable {
    /// Processor seconds of the run.
    public var userSeconds: Double
    public var systemSeconds: Double
    public var peakMemoryBytes: UInt64
    /// How late things started, compared with the plan; nil when nothing had an intended start.
    public var lag: LatencySummary?

    public init(userSeconds: Double, systemSeconds: Double, peakMemoryBytes: UInt64, lag: LatencySummary?) {
        self.userSeconds = userSeconds
        self.systemSeconds = systemSeconds
        self.peakMemoryBytes = peakMemoryBytes
        self.lag = lag
    }
}
