/// A service that checks whether accounts can be found and invited.
public protocol BotKeyPackageProbes: Sendable {
    /// Reads an account's key packages and relay lists from relays, within the request's timeout, and builds an
    /// invitation without sending it. The report holds the result, even if no relay answers. Throws `CancellationError`
    /// if it was cancelled: then nothing is known.
    func probe(_ request: KeyPackageProbeRequest) async throws -> KeyPackageReport
}

public struct KeyPackageProbeRequest: Sendable, Hashable {
    public var account: PublicKey
    /// Relays to query besides those of the configuration. Relays in the account's own lists are queried too.
    public var relays: [RelayURL]
    /// The age from which a key package is stale.
    public var staleAfter: Duration
    /// The deadline of the whole probe.
    public var timeout: Duration

    public init(
        account: PublicKey, relays: [RelayURL] = [], staleAfter: Duration = .seconds(30 * 86_400),
        timeout: Duration = .seconds(15)
    ) {
        self.account = account
        self.relays = relays
        self.staleAfter = staleAfter
        self.timeout = timeout
    }
}

extension NoBotServices: BotKeyPackageProbes {
    public func probe(_ request: KeyPackageProbeRequest) async -> KeyPackageReport {
        KeyPackageReport(account: request.account, relays: [], lists: [], invitation: nil)
    }
}
