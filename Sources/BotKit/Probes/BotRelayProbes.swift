/// Looks at relays for a bot, as a client of encrypted groups does.
public protocol BotRelayProbes: Sendable {
    /// Probes one relay, for so long at most. What the relay is like is in the report, also when nobody is there.
    /// Throws ``BotError/Code/probeRefused`` when it may not be looked at, and `CancellationError` when it was given up
    /// meanwhile: then nothing is known.
    func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport

    /// Tells the account's relays, as the account, what probes found (NIP-66): nothing of a relay that was not reached,
    /// or not at a public address. Throws ``BotError/Code/requestFailed`` when no relay took it.
    func announce(_ announcement: RelayAnnouncement) async throws(BotError)
}

public struct RelayProbeRequest: Sendable, Hashable {
    public var relay: RelayURL
    /// Whether events may be written: by throwaway keys, ended after an hour, and deleted afterwards.
    public var writes: Bool
    /// For all of it.
    public var timeout: Duration
    /// Whether the host may be this machine or in a network around it.
    public var reachesPrivateAddresses: Bool
    /// PEM files of certificate authorities that are trusted besides the system's.
    public var trustRootFiles: [String]
    /// Whether the account logs in where a relay asks for it (NIP-42); otherwise a throwaway key does.
    public var logsInAsAccount: Bool

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

/// What goes out by NIP-66.
public enum RelayAnnouncement: Sendable, Hashable {
    /// Kind 10166: that this account looks at relays, how often, and for how long at most.
    case monitor(every: Duration, timeout: Duration)
    /// Kind 30166: what was found at one relay.
    case relay(RelayProbeReport)
}

extension NoBotServices: BotRelayProbes {
    public func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport {
        throw BotError(.probeRefused, "no relays can be looked at here")
    }

    public func announce(_ announcement: RelayAnnouncement) async throws(BotError) {
        throw BotError(.requestFailed, "no relays can be told here")
    }
}
