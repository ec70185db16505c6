/// A method of logging in.
enum SessionLogin: Sendable {
    case create(name: String?)
    case credential(LoginCredential)
    case restore
}

/// A decoded credential: the account's key, and the identity to store.
struct UnlockedKey: Sendable {
    let key: AccountKey
    let mode: AppState.Auth.Mode
    /// The identity to store; nil if it is already stored.
    var identity: AccountIdentity?
    /// The connection to the key's remote signer; nil if the key is local.
    var link: SignerLink?
}

/// A remote signer with its connections.
struct SignerLink: Sendable {
    let signer: BunkerSigner
    let resources: SignerResources

    /// Runs until the task is cancelled or the connections are shut down.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.signer.run() }
            try await self.resources.run()
            try await group.waitForAll()
        }
    }

    func shutdown() async { await self.resources.transport.shutdown() }
}

/// An opened account, about to run or running.
struct OpenAccount: Sendable {
    let unlocked: UnlockedKey
    let resources: AccountResources
    let login: SessionLogin
    /// The request of the action that opened the account; it ends with the first snapshot.
    let request: RequestID?

    /// Closes the resources of an account that will not run.
    func discard() async {
        await self.unlocked.link?.shutdown()
        await self.resources.close()
    }
}

/// The reason why an account's run ended.
enum SessionEnding: Sendable {
    case logout(RequestID?)
    case wipe(RequestID?)
    case failed(AppCoreError)
    /// The whole session ends.
    case cancelled
}
