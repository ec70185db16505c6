/// What somebody outside wants to know: `GET /probe?module=relay&target=wss://relay.example` at the supervisor.
public struct ProbeRequest: Sendable, Hashable {
    /// Which check, as ``OnProbe`` names it.
    public let module: String
    /// What to look at, as the asker wrote it: a stranger's word, to be held against what the settings allow.
    public let target: String
    /// How long the asker waits.
    public let timeout: Duration

    public init(module: String, target: String, timeout: Duration) {
        self.module = module
        self.target = target
        self.timeout = timeout
    }
}

/// What came of a probe.
public struct ProbeAnswer: Sendable, Hashable {
    /// `probe_success`; the time that the probe took is added by who asked.
    public var isSuccess: Bool
    public var samples: [MetricSample]

    public init(isSuccess: Bool, samples: [MetricSample] = []) {
        self.isSuccess = isSuccess
        self.samples = samples
    }
}
