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

    /// Throws ``PikaCore/AppCoreError/Code/notAllowed`` instead of replacing a stored key with a remote signer, or the
    /// mark of an unfinished deletion.
    package func save(_ identity: AccountIdentity) async throws {
        if case .wiping(let wiped) = identity {
            try directory.markErasure(of: wiped)
            account.withLock { $0 = wiped }
            return
        }
        try requireReplaceable(by: identity)
        try file(of: identity.account).write(identity)
        account.withLock { $0 = identity.account }
        try directory.finishLogin(identity.account)
    }

    private func requireReplaceable(by identity: AccountIdentity) throws {
        let npub = identity.account.npub
        for name in [AccountDirectory.identityFile, AccountDirectory.loggedOutFile] {
            switch (try file(of: identity.account, name).read(isPrivate: false), identity) {
            case (.wiping?, _):
                throw AppCoreError(
                    .notAllowed, "the deletion of \(npub) is unfinished; complete it by another logout with erase")
            case (.key?, .bunker), (.encryptedKey?, .bunker):
                // Any signer can claim any account, and this may be the only copy of the key.
                throw AppCoreError(
                    .notAllowed,
                    "the key of \(npub) is stored here, and a remote signer must not replace it; log out with erase "
                        + "first if the key is stored elsewhere")
            default: continue
            }
        }
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
