import ArgumentParser
import BotProgram
import BotRuntime
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct Logout: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Log an account out of the state directory; keeps its key and state unless --erase is given.",
            discussion: "`pikabot login --account NPUB` logs it in again.")

        @OptionGroup var options: ClientOptions

        @Flag(help: "Also delete the account's key and all of its state. This cannot be undone.")
        var erase = false

        func perform() async throws -> JSONValue {
            let accounts = AccountDirectory(path: options.stateDirectory)
            let entry = try chosen(accounts.readEntries())
            guard entry.isLoggedIn || erase else {
                throw CommandError(
                    "\(entry.account.npub) is logged out already; --erase deletes its key and state")
            }
            let login = AccountLogin(accounts: accounts, logger: Logger(label: "pikabot"))
            do {
                if erase { try await login.wipe(entry.account) } else { try await login.logOut(entry.account) }
            } catch { throw CommandError(error.explanation) }
            var result = ResultJSON.identity(entry.account)
            result["erased"] = .bool(erase)
            let current = try accounts.readEntries().first(where: \.isCurrent)
            result["current"] = current.map { .string($0.account.npub) } ?? .null
            return .object(result)
        }

        private func chosen(_ entries: [AccountDirectory.Entry]) throws -> AccountDirectory.Entry {
            if let account = options.account?.key {
                return try entries.entry(of: account, in: options.stateDirectory)
            }
            guard let current = entries.first(where: \.isCurrent) else {
                throw CommandError(
                    "\(options.stateDirectory): no account is current; name one with --account, as `pikabot accounts` "
                        + "shows it")
            }
            return current
        }
    }
}
