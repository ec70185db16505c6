import Nostr
import PikaCore

/// Commands about the accounts of the state directory.
extension DaemonEngine {
    func perform(account command: DaemonCommand) async throws(DaemonFailure) -> CommandResult {
        guard let accounts = self.machine.settings.accounts else {
            throw DaemonFailure(.notAllowed, "this daemon does not manage accounts")
        }
        switch command {
        case .logIn(let login): return try self.beginLogin(login, accounts)
        case .logOut(let account, let erases): return try await self.logOut(account, erases: erases, accounts)
        default:
            return CommandResult(result: ["accounts": .array(try accounts.list().map { .object($0) })])
        }
    }

    /// Runs the login beside other commands, because a remote signer may take minutes.
    private func beginLogin(
        _ login: DaemonCommand.Login, _ accounts: any DaemonAccounts
    ) throws(DaemonFailure) -> CommandResult {
        guard self.machine.accounts.beginLogin() else {
            throw DaemonFailure(.busy, "another login is in progress; wait for its reply")
        }
        var result = CommandResult()
        result.later = { await self.logIn(login, accounts) }
        return result
    }

    private func logIn(
        _ login: DaemonCommand.Login, _ accounts: any DaemonAccounts
    ) async -> Result<JSONObject, DaemonFailure> {
        defer { self.machine.accounts.endLogin() }
        let background = self.streams.background
        do throws(DaemonFailure) {
            return .success(
                try await accounts.logIn(login) { url in
                    background.yield { await self.announceTransient(.signerState(.needsApproval(url: url), nil)) }
                })
        } catch { return .failure(error) }
    }

    private func logOut(
        _ text: String?, erases: Bool, _ accounts: any DaemonAccounts
    ) async throws(DaemonFailure) -> CommandResult {
        var account = self.core.account
        if let text {
            guard let key = try? PublicKey(parsing: text) else {
                throw DaemonFailure(.badPublicKey, "account must be an npub or 64 hex digits")
            }
            account = key
        }
        var result = CommandResult(result: [
            "pubkey": .string(account.hex), "npub": .string(account.npub), "erased": .bool(erases),
        ])
        if account == self.core.account {
            accounts.logOutAfterEnd(erases: erases)
            result.endsDaemon = true
        } else {
            try await accounts.logOut(account, erases: erases)
        }
        return result
    }

    /// Sends a change of the account's remote signer. A program is not concerned with its account's key.
    func announceSignerChange() async {
        guard self.machine.settings.program == nil,
            let status = self.machine.accounts.change(of: self.machine.state.signer)
        else { return }
        await self.announceTransient(.signerState(status, self.core.account))
    }
}
