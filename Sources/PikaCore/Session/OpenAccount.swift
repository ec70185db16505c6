import Nostr

/// A way to an account.
enum SessionLogin: Sendable {
    case create(name: String?)
    case credential(LoginCredential)
    case restore
}

/// A credential that was understood: whose key it is, and what is to be kept of it.
struct UnlockedKey: Sendable {
    let key: AccountKey
    let mode: AppState.Auth.Mode
    /// Nil if it is kept already.
    var identity: AccountIdentity?
    var security = NIP49.KeySecurity.untracked
    /// What leads to the key if it is elsewhere.
    var link: SignerLink?
}

/// A remote signer with its connections.
struct SignerLink: Sendable {
    let signer: BunkerSigner
    let resources: SignerResources

    /// Until the task is cancelled or the connections are shut down.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.signer.run() }
            try await self.resources.run()
            try await group.waitForAll()
        }
    }

    func shutdown() async { await self.resources.transport.shutdown() }
}

/// An account that is about to run, or runs.
struct OpenAccount: Sendable {
    let unlocked: UnlockedKey
    let resources: AccountResources
    let login: SessionLogin
    /// Of the action that has opened it; it ends with the first snapshot.
    let request: RequestID?

    /// Closes what was opened for nothing.
    func discard() async {
        await self.unlocked.link?.shutdown()
        await self.resources.close()
    }
}

/// How the run of an account ended.
enum SessionEnding: Sendable {
    case logout(RequestID?)
    case wipe(RequestID?)
    case failed(AppCoreError)
    /// The session as a whole ends.
    case cancelled
}
