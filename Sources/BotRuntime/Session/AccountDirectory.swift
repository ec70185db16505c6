import BotConfiguration
import Foundation
package import Nostr
package import PikaCore
import ProcessSupport
import Storage

/// The accounts of one state directory.
///
/// The directory's own account, as created by `pikabot init`, has `identity.json` and its state in the directory
/// itself. Each other account has a folder with the same files, named by its public key in `accounts`. A logged-out
/// account keeps its identity in `logged-out.json`. The file `current-account` names the account of commands that do
/// not choose one; without it, they use the directory's own.
package struct AccountDirectory: Sendable, Hashable {
    /// An account of the directory.
    package struct Entry: Sendable, Hashable {
        package let identity: AccountIdentity
        /// The folder of the account's identity and state.
        package let folder: String
        package let isLoggedIn: Bool
        package fileprivate(set) var isCurrent: Bool

        package var account: PublicKey { identity.account }
    }

    /// The identity's file in the folder of a logged-in account.
    package static let identityFile = "identity.json"
    /// The identity's file in the folder of a logged-out account.
    package static let loggedOutFile = "logged-out.json"
    /// An account's state, in the order of its deletion: without the sealing key the rest is unreadable.
    package static let stateFiles = [
        "sealing.key", "state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "in-hand", "core-in-hand", "quarantine",
        "daemon-tokens.json", "media", "media-cache",
    ]

    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Whether the directory has no accounts but its own, which is not logged out.
    package var hasOnlyOwnAccount: Bool {
        folders.isEmpty && !Self.exists("\(path)/\(Self.loggedOutFile)") && !Self.exists(currentFile)
    }

    /// Returns all accounts: the directory's own first, the others by public key.
    ///
    /// Throws ``BotConfiguration/KeyLoadingError`` if a file is unreadable or malformed.
    package func entries() throws -> [Entry] {
        var entries: [Entry] = []
        if let own = try Self.entry(in: path) { entries.append(own) }
        for folder in folders {
            guard let entry = try Self.entry(in: folder) else { continue }
            guard folder == otherFolder(of: entry.account) else {
                throw KeyLoadingError(
                    .malformed, "\(folder): contains the identity of \(entry.account.hex), expected that of its name")
            }
            entries.append(entry)
        }
        let selected = try selectedAccount()
        let current =
            entries.firstIndex { $0.isLoggedIn && $0.account == selected }
            ?? entries.firstIndex { $0.isLoggedIn && $0.folder == path }
        if let current { entries[current].isCurrent = true }
        return entries
    }

    /// Returns the current account; nil if it is not determined.
    package func current() throws -> Entry? { try entries().first(where: \.isCurrent) }

    package func entry(of account: PublicKey) throws -> Entry? { try entries().first { $0.account == account } }

    /// Logs a logged-out account in again with its kept identity, and makes it the current one.
    package func resume(_ account: PublicKey) throws {
        let folder = folder(of: account)
        let (identity, kept) = ("\(folder)/\(Self.identityFile)", "\(folder)/\(Self.loggedOutFile)")
        if !Self.exists(identity), Self.exists(kept) { try PrivateFile<KeyLoadingError>.move(kept, to: identity) }
        try select(account)
    }

    /// Makes this the account of commands that do not choose one.
    package func select(_ account: PublicKey) throws {
        try PrivateFile<KeyLoadingError>.replace(
            currentFile, Array("\(account.hex)\n".utf8), createsDirectories: true)
    }
}

// MARK: - Login and logout

/// Saving an identity makes its account the current one. The identities are private: reading throws
/// ``BotConfiguration/KeyLoadingError`` if others can read the file, or its content is not an identity.
extension AccountDirectory: IdentityStore {
    package func identity(of account: PublicKey) throws -> AccountIdentity? {
        let folder = folder(of: account)
        for name in [Self.identityFile, Self.loggedOutFile] {
            if let identity = try IdentityFile(path: "\(folder)/\(name)").read(isPrivate: true) { return identity }
        }
        return nil
    }

    package func identity(withSigner remoteSigner: PublicKey) throws -> AccountIdentity? {
        for entry in try entries() {
            if case .bunker(let account, let url, _) = entry.identity, url.remoteSigner == remoteSigner {
                return try identity(of: account)
            }
        }
        return nil
    }

    /// Also checks a logged-out account's identity, which a login deletes.
    package func save(_ identity: AccountIdentity) throws {
        if case .wiping(let account) = identity { return try markErasure(of: account) }
        let folder = folder(of: identity.account)
        for name in [Self.identityFile, Self.loggedOutFile] {
            try IdentityFile(path: "\(folder)/\(name)").read(isPrivate: false)?.requireReplaceable(by: identity)
        }
        try IdentityFile(path: "\(folder)/\(Self.identityFile)").write(identity)
        try finishLogin(identity.account)
    }

    /// Logs an account out. Its identity is kept, because it may contain the only copy of the key, or a client key that
    /// a remote signer knows.
    package func setAside(_ account: PublicKey) throws {
        let folder = folder(of: account)
        guard Self.exists("\(folder)/\(Self.identityFile)") else { return }
        let lock = try StateDirectoryLock(directory: folder, program: "pikabot logout")
        defer { lock.release() }
        try PrivateFile<KeyLoadingError>.move("\(folder)/\(Self.identityFile)", to: "\(folder)/\(Self.loggedOutFile)")
        try deselect(account)
    }

    /// Deletes the identity of a wiped account, and its folder.
    package func remove(_ account: PublicKey) throws {
        let folder = folder(of: account)
        let lock = try StateDirectoryLock(directory: folder, program: "pikabot logout")
        defer { lock.release() }
        try deselect(account)
        try Self.remove(folder == path ? "\(folder)/\(Self.identityFile)" : folder)
    }
}

extension AccountDirectory {
    /// Returns the folder of an account, which may not exist yet.
    func folder(of account: PublicKey) -> String {
        for name in [Self.identityFile, Self.loggedOutFile] {
            if let identity = try? IdentityFile(path: "\(path)/\(name)").read(isPrivate: false),
                identity.account == account
            {
                return path
            }
        }
        return otherFolder(of: account)
    }

    /// Completes a login whose identity is stored.
    package func finishLogin(_ account: PublicKey) throws {
        try Self.remove("\(folder(of: account))/\(Self.loggedOutFile)")
        try select(account)
    }

    /// Replaces an account's key with the mark of an unfinished deletion. Throws while another process uses the account,
    /// because a deletion that cannot start must not cost the key.
    private func markErasure(of account: PublicKey) throws {
        let folder = folder(of: account)
        let lock = try StateDirectoryLock(directory: folder, program: "pikabot logout")
        defer { lock.release() }
        try IdentityFile(path: "\(folder)/\(Self.identityFile)").write(.wiping(account))
    }

    /// Deletes an account's state, except for the identity that marks the deletion as unfinished.
    func wipe(_ account: PublicKey) throws {
        let folder = folder(of: account)
        guard Self.exists(folder) else { return }
        let lock = try StateDirectoryLock(directory: folder, program: "pikabot logout")
        defer { lock.release() }
        let names = [Self.loggedOutFile] + Self.stateFiles
        for name in names { try Self.remove("\(folder)/\(name)") }
        try Self.removeDrafts(of: names + [Self.identityFile], in: folder)
    }

    private func deselect(_ account: PublicKey) throws {
        if try selectedAccount() == account { try Self.remove(currentFile) }
    }

    private static func remove(_ path: String) throws {
        if exists(path) { try FileManager.default.removeItem(atPath: path) }
    }

    /// Deletes the drafts that crashed processes have left beside these files; they may contain keys.
    private static func removeDrafts(of names: [String], in folder: String) throws {
        for draft in try FileManager.default.contentsOfDirectory(atPath: folder)
        where draft.hasSuffix(".new") && names.contains(where: { draft.hasPrefix("\($0).") }) {
            try remove("\(folder)/\(draft)")
        }
    }
}

// MARK: - Files

extension AccountDirectory {
    private var currentFile: String { "\(path)/current-account" }

    private func otherFolder(of account: PublicKey) -> String { "\(path)/accounts/\(account.hex)" }

    /// The folders of accounts other than the directory's own, with or without an identity.
    private var folders: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/accounts")) ?? []
        return names.filter { (try? PublicKey(hex: $0)) != nil }.sorted().map { "\(path)/accounts/\($0)" }
    }

    private func selectedAccount() throws -> PublicKey? {
        guard Self.exists(currentFile) else { return nil }
        let text = String(decoding: try ProtectedFile.read(currentFile, isPrivate: false), as: UTF8.self)
        guard let account = try? PublicKey(hex: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw KeyLoadingError(
                .malformed, "\(currentFile): expected a public key of 64 hex digits; remove the file")
        }
        return account
    }

    private static func entry(in folder: String) throws -> Entry? {
        if let identity = try IdentityFile(path: "\(folder)/\(identityFile)").read(isPrivate: false) {
            var isLoggedIn = true
            if case .wiping = identity { isLoggedIn = false }
            return Entry(identity: identity, folder: folder, isLoggedIn: isLoggedIn, isCurrent: false)
        }
        guard let identity = try IdentityFile(path: "\(folder)/\(loggedOutFile)").read(isPrivate: false) else {
            return nil
        }
        return Entry(identity: identity, folder: folder, isLoggedIn: false, isCurrent: false)
    }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
