package import Nostr
package import PikaCore
import Synchronization

/// The identity of one account in an ``AccountDirectory``. Saving it makes the account the current one; deleting it
/// sets the identity aside, unless the account's data was wiped.
package final class DirectoryIdentityStore: IdentityStore {
    private let directory: AccountDirectory
    private let account: Mutex<PublicKey?>
    private let includesLoggedOut: Bool

    /// - Parameters:
    ///   - account: nil for the login of an account that is not known yet; the first save sets it.
    ///   - includesLoggedOut: whether the kept identity of a logged-out account counts as stored: for its erasure, and
    ///     for another login with the client key that its remote signer knows.
    package init(_ directory: AccountDirectory, account: PublicKey?, includesLoggedOut: Bool = false) {
        self.directory = directory
        self.account = Mutex(account)
        self.includesLoggedOut = includesLoggedOut
    }

    /// Returns nil if the account has no identity, or is logged out. Throws ``BotConfiguration/KeyLoadingError`` if
    /// others can read the file, or its content is not an identity.
    package func load() async throws -> AccountIdentity? {
        guard let account = account.withLock({ $0 }) else { return nil }
        if let identity = try file(of: account).read(isPrivate: true) { return identity }
        guard includesLoggedOut else { return nil }
        return try file(of: account, AccountDirectory.loggedOutFile).read(isPrivate: true)
    }

    package func save(_ identity: AccountIdentity) async throws {
        try file(of: identity.account).write(identity)
        account.withLock { $0 = identity.account }
        if case .wiping = identity { return }
        try directory.finishLogin(identity.account)
    }

    package func delete() async throws {
        guard let identity = try await load() else { return }
        if case .wiping(let account) = identity {
            try directory.remove(account)
        } else {
            try directory.setAside(identity.account)
        }
    }

    private func file(of account: PublicKey, _ name: String = AccountDirectory.identityFile) -> IdentityFile {
        IdentityFile(path: "\(directory.folder(of: account))/\(name)")
    }
}
