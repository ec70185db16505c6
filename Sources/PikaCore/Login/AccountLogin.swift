package import Logging
package import Nostr

/// Logs accounts in and out, and wipes them. No account runs meanwhile.
///
/// Each function is one sequence of steps that can be repeated after a failure, a cancellation or a crash. A login
/// stores an identity only after everything else has succeeded. A wipe first replaces the identity by a marker, which is
/// deleted last; the next logout or wipe of that account, or login with its key, completes it.
package struct AccountLogin: Sendable {
    let identities: any IdentityStore
    let host: any AccountHost
    let clock: any CoreClock
    let randomness: @Sendable () -> any RandomNumberGenerator & Sendable
    let logger: Logger

    /// - Parameters:
    ///   - identities: the host's storage for the identities of accounts.
    ///   - host: opens and wipes the accounts' states, and connects to remote signers.
    ///   - randomness: returns a generator for each new key and each connection to a remote signer; anything but the
    ///     system's generator is for tests only.
    package init(
        identities: any IdentityStore, host: any AccountHost, clock: any CoreClock,
        randomness: @escaping @Sendable () -> any RandomNumberGenerator & Sendable = { SystemRandomNumberGenerator() },
        logger: Logger
    ) {
        self.identities = identities
        self.host = host
        self.clock = clock
        self.randomness = randomness
        self.logger = logger
    }

    /// Checks a credential, opens the account's state to check it too, stores the account's identity and returns the
    /// account.
    ///
    /// With a remote signer (NIP-46) the login waits until the signer has named its account. The deadline is 30 s, plus
    /// 5 minutes if the signer asks for an approval.
    ///
    /// Throws an ``AppCoreError``, or a `CancellationError` once the task is cancelled; nothing is stored or open then.
    /// A remote signer never replaces a stored key, and never completes a wipe: that fails with
    /// `AppCoreError.Code.notAllowed`.
    ///
    /// - Parameter onApproval: called with each address where a user has to approve this client at its remote signer.
    package func logIn(
        _ credential: LoginCredential, onApproval: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> PublicKey {
        let identity = try await self.identity(from: credential, onApproval)
        if case .bunker = identity {
            try await self.storedIdentity(of: identity.account)?.requireReplaceable(by: identity)
        }
        try await self.finishWipe(of: identity.account)
        do {
            try await self.host.withState(of: identity.account) {
                try Task.checkCancellation()
                try await self.save(identity)
            }
        } catch let error as AppCoreError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw AppCoreError(.accountUnavailable, "the account cannot be opened: \(error)")
        }
        return identity.account
    }

    /// Ends an account's login; the host decides whether its identity is kept, and its state stays.
    package func logOut(_ account: PublicKey) async throws(AppCoreError) {
        // An interrupted wipe must not be cancelled by a logout.
        try await self.finishWipe(of: account)
        do { try await self.identities.setAside(account) } catch {
            throw AppCoreError(.identityUnavailable, "the stored key cannot be deleted: \(error); log out again")
        }
    }

    /// Deletes an account's key and all its stored state.
    package func wipe(_ account: PublicKey) async throws(AppCoreError) {
        guard try await self.storedIdentity(of: account) != nil else {
            throw AppCoreError(.notLoggedIn, "no key of \(account.npub) is stored; log in with it first")
        }
        do { try await self.identities.save(.wiping(account)) } catch {
            throw AppCoreError(.identityUnavailable, "the stored key cannot be deleted: \(error); wipe again")
        }
        try await self.finishWipe(of: account)
    }

    /// Completes an interrupted wipe. The marker of the wipe is deleted last.
    private func finishWipe(of account: PublicKey) async throws(AppCoreError) {
        guard case .wiping? = try await self.storedIdentity(of: account) else { return }
        do { try await self.host.wipe(account) } catch {
            throw AppCoreError(.accountUnavailable, "the account's data cannot be deleted: \(error); wipe again")
        }
        do { try await self.identities.remove(account) } catch {
            throw AppCoreError(.identityUnavailable, "the marker of the wipe cannot be deleted: \(error); wipe again")
        }
    }

    // MARK: Identities

    private func storedIdentity(of account: PublicKey) async throws(AppCoreError) -> AccountIdentity? {
        do { return try await self.identities.identity(of: account) } catch { throw Self.unreadable(error) }
    }

    /// Returns the stored identity of a signer that knows this host's client already.
    func storedIdentity(withSigner remoteSigner: PublicKey) async throws(AppCoreError) -> AccountIdentity? {
        do { return try await self.identities.identity(withSigner: remoteSigner) } catch {
            throw Self.unreadable(error)
        }
    }

    private static func unreadable(_ error: any Error) -> AppCoreError {
        AppCoreError(.identityUnavailable, "the stored account cannot be read: \(error)")
    }

    private func save(_ identity: AccountIdentity) async throws(AppCoreError) {
        do { try await self.identities.save(identity) } catch let error as AppCoreError {
            throw error
        } catch {
            throw AppCoreError(.identityUnavailable, "the key cannot be stored: \(error)")
        }
    }

    // MARK: Credentials

    private func identity(
        from credential: LoginCredential, _ onApproval: @escaping @Sendable (String) -> Void
    ) async throws -> AccountIdentity {
        switch credential {
        case .newKey: return .key(self.generateKey())
        case .key(let key): return .key(key)
        case .encryptedKey(let text, let password): return try await Self.decrypt(text, password: password)
        case .bunker(let address): return try await self.identity(fromBunker: address, onApproval)
        case .invitation(let url, let client):
            return try await self.identity(fromInvitation: url, client: client, onApproval)
        }
    }

    func generateKey() -> KeyPair {
        var random = CoreRandom(self.randomness())
        return KeyPair.generate(using: &random)
    }

    /// Runs off the caller's actor, because decryption takes a while.
    @concurrent
    private static func decrypt(_ text: String, password: String) async throws(AppCoreError) -> AccountIdentity {
        do {
            let read = try NIP49.EncryptedKey(parsing: text)
            let key = try read.decrypt(password: NIP49.Password(password))
            return .encryptedKey(key.publicKey, ncryptsec: text)
        } catch { throw AppCoreError(credential: error) }
    }
}
