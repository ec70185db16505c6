import Nostr

/// A way to an account.
enum SessionLogin: Sendable {
    case create(name: String?)
    case credential(LoginCredential)
    case restore
}

/// A credential that was understood: whose key it is, and what is to be kept of it.
struct UnlockedKey: Sendable {
    let key: KeyPair
    let mode: AppState.Auth.Mode
    /// Nil if it is kept already.
    var identity: AccountIdentity?
    var security = NIP49.KeySecurity.untracked
}

/// An account that is about to run, or runs.
struct OpenAccount: Sendable {
    let unlocked: UnlockedKey
    let resources: AccountResources
    let login: SessionLogin
    /// Of the action that has opened it; it ends with the first snapshot.
    let request: RequestID?
}

/// How the run of an account ended.
enum SessionEnding: Sendable {
    case logout(RequestID?)
    case wipe(RequestID?)
    case failed(AppCoreError)
    /// The session as a whole ends.
    case cancelled
}
