/// Looks for a bot whether accounts can be found and invited.
public protocol BotKeyPackageProbes: Sendable {
    /// Reads what relays hold of an account's key packages and relay lists, for so long at most, and tries an
    /// invitation without sending it. What it is like is in the report, also when no relay answers. Throws
    /// `CancellationError` when it was given up meanwhile: then nothing is known.
    func probe(_ request: KeyPackageProbeRequest) async throws -> KeyPackageReport
}

public struct KeyPackageProbeRequest: Sendable, Hashable {
    public var account: PublicKey
    /// Where to begin, besides the relays of the configuration. Those that the account's own lists name are asked too.
    public var relays: [RelayURL]
    /// A key package that was published longer ago is stale.
    public var staleAfter: Duration
    /// For all of it.
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
