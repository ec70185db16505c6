/// A service that probes relays by using them like a client of encrypted groups.
public protocol BotRelayProbes: Sendable {
    /// Probes one relay, within the request's timeout. Returns a report even if the relay cannot be reached. Throws
    /// ``BotError/Code/probeRefused`` if the relay may not be probed, and `CancellationError` if the probe was
    /// cancelled; it then has no result.
    func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport

    /// Publishes probe results to the account's relays, signed by the account (NIP-66). Skips results for relays that
    /// were unreachable or have no public address. Throws ``BotError/Code/requestFailed`` if no relay accepted the
    /// event.
    func announce(_ announcement: RelayAnnouncement) async throws(BotError)
}

/// A request to probe one relay.
public struct RelayProbeRequest: Sendable, Hashable {
    /// The relay to probe.
    public var relay: RelayURL
    /// Whether the probe may write events: signed by throwaway keys, expiring after an hour, and deleted afterwards.
    public var writes: Bool
    /// The deadline of the whole probe.
    public var timeout: Duration
    /// Whether the host may be this machine or in a private network.
    public var reachesPrivateAddresses: Bool
    /// PEM files of certificate authorities that are trusted in addition to the system's.
    public var trustRootFiles: [String]
    /// Whether the account authenticates where a relay requires it (NIP-42); otherwise a throwaway key does.
    public var logsInAsAccount: Bool

    /// Creates a request. By default it writes, and has a deadline of 20 seconds.
    public init(
        relay: RelayURL, writes: Bool = true, timeout: Duration = .seconds(20), reachesPrivateAddresses: Bool = false,
        trustRootFiles: [String] = [], logsInAsAccount: Bool = false
    ) {
        self.relay = relay
        self.writes = writes
        self.timeout = timeout
        self.reachesPrivateAddresses = reachesPrivateAddresses
        self.trustRootFiles = trustRootFiles
        self.logsInAsAccount = logsInAsAccount
    }
}

/// An event to publish about relays (NIP-66).
public enum RelayAnnouncement: Sendable, Hashable {
    /// Kind 10166: announces that this account monitors relays, with the interval and the timeout.
    case monitor(every: Duration, timeout: Duration)
    /// Kind 30166: the result for one relay.
    case relay(RelayProbeReport)
}

extension NoBotServices: BotRelayProbes {
    /// Throws ``BotError/Code/probeRefused``.
    public func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport {
        throw BotError(.probeRefused, "relay probes are not available here")
    }

    /// Throws ``BotError/Code/requestFailed``.
    public func announce(_ announcement: RelayAnnouncement) async throws(BotError) {
        throw BotError(.requestFailed, "relay announcements are not available here")
    }
}
