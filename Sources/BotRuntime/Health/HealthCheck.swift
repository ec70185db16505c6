/// One thing that must be so for an account to be at work, and whether it is.
struct HealthCheck: Sendable, Hashable, Codable {
    /// A word: `canary`, `relay`, `inbox`, `outbox`, `key_package`, `store` or `bots`.
    var check: String
    /// Host and perhaps port, for checks of a relay.
    var relay: String?
    var ok: Bool
    /// What is so, in words, without keys and ids.
    var message: String
}

/// What a worker answers when it is asked for its health.
struct HealthReport: Sendable, Hashable, Codable {
    /// That the worker is no longer starting.
    var phase = "running"
    /// Whether every check passes.
    var ready: Bool
    var checks: [HealthCheck]

    init(_ checks: [HealthCheck]) {
        self.checks = checks
        ready = checks.allSatisfy(\.ok)
    }
}
