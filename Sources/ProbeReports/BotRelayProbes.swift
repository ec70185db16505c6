package import BotKit
package import Nostr

/// A service that probes relays by using them like a client of encrypted groups.
package protocol BotRelayProbes: Sendable {
    /// Probes one relay, within the request's timeout. Returns a report even if the relay cannot be reached. Throws
    /// `BotError.Code.probeRefused` if the relay may not be probed, and `CancellationError` if the probe was
    /// cancelled; it then has no result.
    func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport

    /// Publishes probe results to the account's relays, signed by the account (NIP-66). Skips results for relays that
    /// were unreachable or have no package address. Throws `BotError.Code.requestFailed` if no relay accepted the
    /// event.
    func announce(_ announcement: RelayAnnouncement) async throws(BotError)
}

/// A request to probe one relay.
package struct RelayProbeRequest: Sendable, Hashable {
    /// The relay to probe.
    package var relay: RelayURL
    /// Whether the probe may write events: signed by throwaway keys, expiring after an hour, and deleted afterwards.
    package var writes: Bool
    /// The deadline of the whole probe.
    package var timeout: Duration
    /// Whether the host may be this machine or in a private network.
    package var reachesPrivateAddresses: Bool
    /// PEM files of certificate authorities that are trusted in addition to the system's.
    package var trustRootFiles: [String]
    /// Whether the account authenticates where a relay requires it (NIP-42); otherwise a throwaway key does.
    package var logsInAsAccount: Bool

    /// Creates a request. By default it writes, and has a deadline of 20 seconds.
    package init(
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
package enum RelayAnnouncement: Sendable, Hashable {
    /// Kind 10166: announces that this account monitors relays, with the interval and the timeout.
    case monitor(every: Duration, timeout: Duration)
    /// Kind 30166: the result for one relay.
    case relay(RelayProbeReport)
}

extension BotServices {
    private enum RelayProbesKey: BotServiceKey {
        static var missing: any BotRelayProbes { NoBotServices() }
    }

    /// Probes relays, and publishes the results.
    package var relayProbes: any BotRelayProbes {
        get { self[RelayProbesKey.self] }
        set { self[RelayProbesKey.self] = newValue }
    }
}

extension NoBotServices: BotRelayProbes {
    /// Throws `BotError.Code.probeRefused`.
    package func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport {
        throw BotError(.probeRefused, "relay probes are not available here")
    }

    /// Throws `BotError.Code.requestFailed`.
    package func announce(_ announcement: RelayAnnouncement) async throws(BotError) {
        throw BotError(.requestFailed, "relay announcements are not available here")
    }
}
