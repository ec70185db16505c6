package import BotKit
package import Nostr

/// A service that checks whether accounts can be found and invited.
package protocol BotKeyPackageProbes: Sendable {
    /// Reads an account's key packages of both protocol generations and its relay lists from relays, and builds an
    /// invitation in each generation without sending it, within the request's timeout. Returns a report even if no
    /// relay answers. Throws `CancellationError` if the probe was cancelled; it then has no result.
    func probe(_ request: KeyPackageProbeRequest) async throws -> KeyPackageReport
}

/// A request to check whether an account can be found and invited.
package struct KeyPackageProbeRequest: Sendable, Hashable {
    /// The account to check; it is not contacted, and nothing is published.
    package var account: PublicKey
    /// Relays to query besides those of the configuration. Relays in the account's own lists are queried too.
    package var relays: [RelayURL]
    /// The protocol generations in which the account must be invitable.
    package var expectation: ProtocolExpectation
    /// The age from which a key package is stale.
    package var staleAfter: Duration
    /// The deadline of the whole probe.
    package var timeout: Duration

    /// Creates a request. By default a key package is stale after 30 days, and the deadline is 15 seconds.
    package init(
        account: PublicKey, relays: [RelayURL] = [], expectation: ProtocolExpectation = .any,
        staleAfter: Duration = .seconds(30 * 86_400), timeout: Duration = .seconds(15)
    ) {
        self.account = account
        self.relays = relays
        self.expectation = expectation
        self.staleAfter = staleAfter
        self.timeout = timeout
    }
}

extension BotServices {
    private enum KeyPackageProbesKey: BotServiceKey {
        static var missing: any BotKeyPackageProbes { NoBotServices() }
    }

    /// Checks whether accounts can be found and invited.
    package var keyPackageProbes: any BotKeyPackageProbes {
        get { self[KeyPackageProbesKey.self] }
        set { self[KeyPackageProbesKey.self] = newValue }
    }
}

extension NoBotServices: BotKeyPackageProbes {
    /// Returns a report without any answers.
    package func probe(_ request: KeyPackageProbeRequest) async -> KeyPackageReport {
        KeyPackageReport(account: request.account, expectation: request.expectation)
    }
}
