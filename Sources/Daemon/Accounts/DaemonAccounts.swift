package import Nostr
import PikaCore

/// The accounts of a daemon's state directory, of which the daemon runs one.
package protocol DaemonAccounts: Sendable {
    /// Returns the entries of `list_accounts`.
    func list() throws(DaemonFailure) -> [JSONObject]

    /// Logs in to another account, or makes one current; returns its entry.
    ///
    /// - Parameter onApproval: called with the address where a user has to approve this client at its remote signer.
    func logIn(
        _ login: DaemonCommand.Login, onApproval: @escaping @Sendable (String) -> Void
    ) async throws(DaemonFailure) -> JSONObject

    /// Logs out an account that is not running; with `erases`, deletes its key and state.
    func logOut(_ account: PublicKey, erases: Bool) async throws(DaemonFailure)

    /// Logs out the daemon's own account once the daemon has ended and its store is closed.
    func logOutAfterEnd(erases: Bool)
}

/// Progress of logins and of the account's remote signer.
struct AccountProgress: Sendable {
    private var isLoggingIn = false
    private var signer: AppState.SignerStatus?

    /// Starts a login; returns false while another one is in progress.
    mutating func beginLogin() -> Bool {
        guard !self.isLoggingIn else { return false }
        self.isLoggingIn = true
        return true
    }

    mutating func endLogin() { self.isLoggingIn = false }

    /// Returns the signer's state if it differs from the one announced before and clients need it.
    mutating func change(of status: AppState.SignerStatus?) -> AppState.SignerStatus? {
        guard let status, status != .unknown, status != self.signer else { return nil }
        self.signer = status
        return status
    }
}
