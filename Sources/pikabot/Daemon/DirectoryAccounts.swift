import BotConfiguration
import BotProgram
import BotRuntime
import Daemon
import Foundation
import Logging
import Nostr
import PikaCore
import Synchronization

/// The accounts of the state directory of a daemon that runs one of them.
final class DirectoryAccounts: DaemonAccounts {
    private let directory: AccountDirectory
    private let login: AccountLogin
    private let environment: [String: String]
    /// Whether the requested logout of the daemon's own account erases it; nil if none is requested.
    private let ownLogout = Mutex<Bool?>(nil)

    init(_ directory: AccountDirectory, login: AccountLogin, environment: [String: String]) {
        self.directory = directory
        self.login = login
        self.environment = environment
    }

    func list() throws(DaemonFailure) -> [JSONObject] {
        do { return try directory.readEntries().compactMap(\.json.object) } catch {
            throw DaemonFailure(.runtimeError, Self.message(of: error))
        }
    }

    func logIn(
        _ login: DaemonCommand.Login, onApproval: @escaping @Sendable (String) -> Void
    ) async throws(DaemonFailure) -> JSONObject {
        let key = LoginKey(nsecFile: login.nsecFile, ncryptsecFile: login.ncryptsecFile, bunker: login.bunker)
        guard key.count + (login.account == nil ? 0 : 1) <= 1 else {
            throw DaemonFailure(
                .badRequest, "expected at most one of account, nsec_file, ncryptsec_file and bunker")
        }
        do {
            let account: PublicKey
            if let text = login.account {
                account = try resume(text)
            } else {
                let credential = try key.credential { try self.password(login.passwordFile) }
                account = try await self.login.logIn(credential, onApproval: onApproval)
            }
            return try directory.readEntries().entry(of: account, in: directory.path).json.object ?? JSONObject()
        } catch {
            throw DaemonFailure(.loginFailed, Self.message(of: error))
        }
    }

    func logOut(_ account: PublicKey, erases: Bool) async throws(DaemonFailure) {
        do {
            let entry = try directory.readEntries().entry(of: account, in: directory.path)
            guard entry.isLoggedIn || erases else {
                throw CommandError("\(account.npub) is logged out already; erase deletes its key and state")
            }
            try await end(account, erases: erases)
        } catch {
            throw DaemonFailure(.logoutFailed, Self.message(of: error))
        }
    }

    func logOutAfterEnd(erases: Bool) { ownLogout.withLock { $0 = erases } }

    /// Performs the requested logout of the daemon's own account. Its store must be closed.
    func performOwnLogout(of account: PublicKey) async throws {
        guard let erases = ownLogout.withLock({ $0 }) else { return }
        try await end(account, erases: erases)
    }

    private func end(_ account: PublicKey, erases: Bool) async throws(AppCoreError) {
        if erases { try await login.wipe(account) } else { try await login.logOut(account) }
    }

    private func resume(_ text: String) throws -> PublicKey {
        guard let account = try? PublicKey(parsing: text) else {
            throw CommandError("account must be an npub or 64 hex digits")
        }
        let entry = try directory.readEntries().entry(of: account, in: directory.path)
        if case .wiping = entry.identity {
            throw CommandError("the deletion of \(account.npub) is unfinished; repeat it with logout and erase")
        }
        try directory.resume(account)
        return account
    }

    /// Never prompts, because the daemon's terminal may be someone else's. A client names the file, so a pipe or an
    /// endless file must not stop the daemon.
    private func password(_ file: String?) throws -> String {
        if let file { return try Password.firstLine(of: try ProtectedFile.read(file, isPrivate: false), file) }
        guard environment[Password.variable] != nil else {
            throw CommandError("the key has a password: name its file in password_file, or set \(Password.variable)")
        }
        return try Password.read(file: nil, environment: environment)
    }

    private static func message(of error: any Error) -> String {
        (error as? AppCoreError)?.explanation ?? String(describing: error)
    }
}
