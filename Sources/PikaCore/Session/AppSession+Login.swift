import Nostr

/// The logged-out part of a session.
extension AppSession {
    /// Performs actions until an account is open; returns nil once the session is cancelled.
    func awaitAccount(_ inputs: SessionInputs) async -> OpenAccount? {
        while let input = await inputs.next() {
            guard case .action(let action, let request) = input else { continue }
            let login: SessionLogin
            switch action {
            case .createAccount(let name): login = .create(name: name)
            case .login(let credential): login = .credential(credential)
            case .restoreSession: login = .restore
            default:
                await self.performLoggedOut(action, request)
                continue
            }
            if let account = await self.open(login, request, inputs) { return account }
        }
        return nil
    }

    private func performLoggedOut(_ action: AppAction, _ request: RequestID?) async {
        switch action {
        case .logout: await self.forget(request)
        case .wipeLocalData: await self.wipe(nil, request)
        case .foregrounded: self.finish(request, .done(chatID: nil))
        case .clearToast:
            self.toast = nil
            self.publish()
            self.finish(request, .done(chatID: nil))
        case .reloadConfiguration(let configuration):
            self.configuration = configuration
            self.finish(request, .done(chatID: nil))
        default: self.fail(request, AppCoreError(.notLoggedIn, "no account is logged in; log in first"))
        }
    }

    // MARK: Opening

    private func open(
        _ login: SessionLogin, _ request: RequestID?, _ inputs: SessionInputs
    ) async -> OpenAccount? {
        self.toast = nil
        if case .create = login { self.busy.creatingAccount = true } else { self.busy.loggingIn = true }
        self.publish()
        self.attempts += 1
        let attempt = self.attempts
        let isWanted = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.open(login, request, attempt: attempt) }
            let isWanted = await inputs.hold(untilOpened: attempt)
            if !isWanted { group.cancelAll() }
            await group.waitForAll()
            return isWanted
        }
        let result = self.opening
        self.opening = nil
        let cut = AppCoreError(.sessionEnded, "the login was interrupted")
        switch result {
        case .success(let account)? where isWanted: return await self.keep(account)
        case .success(let account)?: await account.discard()
        case .failure(let error)? where isWanted:
            self.busy = AppState.Busy()
            self.fail(request, error)
            return nil
        case .failure, nil: break
        }
        self.busy = AppState.Busy()
        self.publish()
        self.finish(request, .failed(cut))
        return nil
    }

    private func open(_ login: SessionLogin, _ request: RequestID?, attempt: Int) async {
        do {
            try await self.finishWipe()
            let unlocked = try await self.unlock(login)
            let resources: AccountResources
            do { resources = try await self.host.open(unlocked.key) } catch {
                await unlocked.link?.shutdown()
                throw AppCoreError(.accountUnavailable, "the account cannot be opened: \(error)")
            }
            self.opening = .success(
                OpenAccount(unlocked: unlocked, resources: resources, login: login, request: request))
        } catch let error as AppCoreError {
            self.opening = .failure(error)
        } catch {
            self.opening = .failure(AppCoreError(.accountUnavailable, "the account cannot be opened: \(error)"))
        }
        self.send.yield(.opened(attempt))
    }

    /// Stores the account's identity before its key is used, so that the session can be restored.
    private func keep(_ account: OpenAccount) async -> OpenAccount? {
        guard let identity = account.unlocked.identity else { return account }
        do {
            try await self.requireNoOtherIdentity(for: identity.account)
            try await self.identities.save(identity)
            self.introduction = nil
            return account
        } catch {
            await account.discard()
            self.busy = AppState.Busy()
            let failure = AppCoreError(.identityUnavailable, "the key cannot be stored: \(error)")
            self.fail(account.request, (error as? AppCoreError) ?? failure)
            return nil
        }
    }

    /// Throws if another account's identity is stored: it may hold the only copy of a key, so it is replaced only after
    /// a logout or wipe.
    private func requireNoOtherIdentity(for account: PublicKey) async throws(AppCoreError) {
        guard let kept = try await self.loadIdentity(), kept.account != account else { return }
        throw AppCoreError(
            .notAllowed,
            "the key of another account is stored, \(kept.account.npub): restore, log out or wipe that account first")
    }

    // MARK: Keys

    private func unlock(_ login: SessionLogin) async throws(AppCoreError) -> UnlockedKey {
        switch login {
        case .create:
            let key = KeyPair.generate(using: &self.random)
            return UnlockedKey(key: .local(key), mode: .localKey, identity: .key(key))
        case .credential(.key(let key)):
            return UnlockedKey(key: .local(key), mode: .localKey, identity: .key(key))
        case .credential(.encryptedKey(let text, let password)):
            return try await Self.decrypt(text, password: password)
        case .credential(.storedKey(let password)):
            guard case .encryptedKey(let account, let text)? = try await self.loadIdentity() else {
                throw AppCoreError(.notLoggedIn, "no encrypted key is stored; log in with one")
            }
            var unlocked = try await Self.decrypt(text, password: password)
            try Self.check(unlocked.key.publicKey, is: account)
            unlocked.identity = nil
            return unlocked
        case .credential(.bunker(let address)): return try await self.unlock(bunker: address)
        case .credential(.invitation(let url, let client)):
            return try await self.unlock(invitation: url, client: client)
        case .restore: return try await self.unlockStored()
        }
    }

    private func unlockStored() async throws(AppCoreError) -> UnlockedKey {
        switch try await self.loadIdentity() {
        case .key(let key)?: return UnlockedKey(key: .local(key), mode: .localKey)
        case .bunker(let account, let url, let client)?:
            return try await self.remoteKey(of: account, url, client: client)
        case .encryptedKey?:
            throw AppCoreError(.passwordNeeded, "the account's key is stored under a password; log in with it")
        case .wiping?, nil: throw AppCoreError(.notLoggedIn, "no account was logged in before; log in with its key")
        }
    }

    private static func check(_ key: PublicKey, is account: PublicKey) throws(AppCoreError) {
        guard key == account else {
            throw AppCoreError(.identityUnavailable, "the stored key is not the key of \(account)")
        }
    }

    /// Runs outside the session's actor, because decryption takes a while.
    @concurrent
    private static func decrypt(_ text: String, password: String) async throws(AppCoreError) -> UnlockedKey {
        do {
            let read = try NIP49.EncryptedKey(parsing: text)
            let key = try read.decrypt(password: NIP49.Password(password))
            return UnlockedKey(
                key: .local(key), mode: .encryptedKey, identity: .encryptedKey(key.publicKey, ncryptsec: text))
        } catch { throw AppCoreError(credential: error) }
    }

    func loadIdentity() async throws(AppCoreError) -> AccountIdentity? {
        do { return try await self.identities.load() } catch {
            throw AppCoreError(.identityUnavailable, "the stored account cannot be read: \(error)")
        }
    }
}
