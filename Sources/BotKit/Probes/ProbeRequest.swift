/// A probe request over HTTP: `GET /probe?module=relay&target=wss://relay.example` at the supervisor.
public struct ProbeRequest: Sendable, Hashable {
    /// The module, as named by ``OnProbe``.
    public let module: String
    /// The target as sent by the client: untrusted, to be checked against the settings.
    public let target: String
    /// The time until the client's deadline.
    public let timeout: Duration

    /// Creates a request.
    public init(module: String, target: String, timeout: Duration) {
        self.module = module
        self.target = target
        self.timeout = timeout
    }
}

/// The result of a probe request.
public struct ProbeAnswer: Sendable, Hashable {
    /// `probe_success`; the caller adds the duration of the probe.
    public var isSuccess: Bool
    /// Further metrics of the answer.
    public var samples: [MetricSample]

    /// Creates an answer.
    public init(isSuccess: Bool, samples: [MetricSample] = []) {
        self.isSuccess = isSuccess
        self.samples = samples
    }
}
