/// Environment of the run.
package struct LoadEnvironment: Codable, Equatable, Sendable {
    package var host: HostFacts
    /// Software and version: `pikabot 0.6.0`.
    package var software: String
    /// Storage of the agents' state: `memory`, `disk /var/lib/…`.
    package var store: String
    package var relays: [String]
    /// Further notes: `relay: nostr-sdk LocalRelay, same machine`.
    package var notes: [String]

    package init(host: HostFacts, software: String, store: String, relays: [String], notes: [String] = []) {
        self.host = host
        self.software = software
        self.store = store
        self.relays = relays
        self.notes = notes
    }
}

/// Machine, operating system and build.
package struct HostFacts: Codable, Equatable, Sendable {
    package var name: String
    package var processor: String
    package var processors: Int
    package var memoryBytes: UInt64
    package var system: String
    package var kernel: String
    /// The compiler: `Swift 6.3`.
    package var compiler: String
    /// `release`, or `debug`, whose figures are not representative.
    package var build: String

    package init(
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
package struct GeneratorCost: Codable, Equatable, Sendable {
    /// CPU seconds of the run.
    package var userSeconds: Double
    package var systemSeconds: Double
    package var peakMemoryBytes: UInt64
    /// Delay of starts against the plan; nil when no operation had an intended start.
    package var lag: LatencySummary?

    package init(userSeconds: Double, systemSeconds: Double, peakMemoryBytes: UInt64, lag: LatencySummary?) {
        self.userSeconds = userSeconds
        self.systemSeconds = systemSeconds
        self.peakMemoryBytes = peakMemoryBytes
        self.lag = lag
    }
}
