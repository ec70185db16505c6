package import Logging
package import Nostr
package import PikaCore

/// Logs accounts of a state directory in and out, by an ``AppSession`` for one action.
package struct AccountLogin: Sendable {
    private let accounts: AccountDirectory
    private let core: CoreConfiguration
    private let allowsPrivateAddresses: Bool
    private let clock: any CoreClock
    private let logger: Logger

    /// - Parameter allowsPrivateAddresses: whether relays and media servers named by others may have private addresses.
    package init(
        accounts: AccountDirectory, core: CoreConfiguration, allowsPrivateAddresses: Bool = false,
        clock: any CoreClock = SystemClock(), logger: Logger
    ) {
        self.accounts = accounts
        self.core = core
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.clock = clock
        self.logger = logger
    }

    /// Logs in with a new key or a credential, stores the identity, makes the account the current one, and returns it.
    /// Throws the ``AppCoreError`` of a failed login.
    ///
    /// - Parameter onApproval: called with the address where a user has to approve this client at its remote signer.
    package func logIn(
        _ action: AppAction, onApproval: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> PublicKey {
        let known = try knownAccount(action)
        guard let account = try await perform(action, of: known, onApproval) else {
            throw AppCoreError(.sessionEnded, "the account's session ended during the login; log in again")
        }
        return account
    }

    /// Logs an account out. Keeps its identity and state; with `erases`, deletes both.
    package func logOut(_ account: PublicKey, erases: Bool) async throws {
        var action = erases ? AppAction.wipeLocalData : .logout
        // The session completes an interrupted wipe before its first action.
        if case .wiping? = try accounts.entry(of: account)?.identity { action = .logout }
        _ = try await perform(action, of: account) { _ in }
    }

    /// Returns the account of a remote signer that knows this directory's client already, so that the client's key is
    /// used again; or an account whose deletion is unfinished, so that the session completes it first.
    private func knownAccount(_ action: AppAction) throws -> PublicKey? {
        switch action {
        case .login(.bunker(let address)):
            guard let url = try? BunkerURL(address) else { return nil }
            return try accounts.account(of: url.remoteSigner)
        case .login(.key(let key)):
            guard case .wiping(let account)? = try accounts.entry(of: key.publicKey)?.identity else { return nil }
            return account
        default: return nil
        }
    }

    /// Runs a session until the action has ended; returns the account that is logged in then.
    private func perform(
        _ action: AppAction, of account: PublicKey?, _ onApproval: @escaping @Sendable (String) -> Void
    ) async throws -> PublicKey? {
        let session = AppSession(
            identities: DirectoryIdentityStore(accounts, account: account, includesLoggedOut: action != .logout),
            host: LocalAccountHost(accounts: accounts, allowsPrivateAddresses: allowsPrivateAddresses, logger: logger),
            configuration: core, clock: clock, logger: logger)
        let updates = session.updates()
        let request = RequestID(rawValue: "account")
        session.dispatch(action, request: request)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await session.run() }
            var outcome: ActionOutcome?
            var approval: String?
            for await update in updates {
                if case .fullState(let state) = update, case .needsApproval(let url)? = state.signer, url != approval {
                    approval = url
                    onApproval(url)
                }
                guard case .finished(_, request, let ended) = update else { continue }
                outcome = ended
                break
            }
            let auth = await session.state.auth
            group.cancelAll()
            // Returns once the account is closed.
            try await group.waitForAll()
            guard let outcome else { throw CancellationError() }
            if case .failed(let error) = outcome { throw error }
            if case .loggedIn(let account, _) = auth { return account }
            return nil
        }
    }
}
