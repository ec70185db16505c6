/// A condition for an account to work, and whether it holds.
struct HealthCheck: Sendable, Hashable, Codable {
    /// The name of the check: `canary`, `relay`, `inbox`, `outbox`, `key_package`, `store` or `bots`.
    var check: String
    /// Host and optionally port, for checks of a relay.
    var relay: String?
    var ok: Bool
    /// A description of the current state, without keys and ids.
    var message: String
}

/// A worker's answer to a health check.
struct HealthReport: Sendable, Hashable, Codable {
    /// Distinguishes the report from the answer of a worker that is starting.
    var phase = "running"
    /// Whether every check passes.
    var ready: Bool
    var checks: [HealthCheck]

    init(_ checks: [HealthCheck]) {
        self.checks = checks
        ready = checks.allSatisfy(\.ok)
    }
}
