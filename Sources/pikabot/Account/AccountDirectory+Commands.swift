import BotConfiguration
import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension AccountDirectory {
    /// Returns all accounts; throws ``BotProgram/CommandError`` if a file is unreadable or malformed.
    func readEntries() throws -> [Entry] {
        do { return try entries() } catch let error as KeyLoadingError { throw CommandError(error.message) }
    }
}

extension [AccountDirectory.Entry] {
    /// Returns the chosen account's entry.
    func entry(of account: PublicKey, in stateDirectory: String) throws -> AccountDirectory.Entry {
        guard let entry = first(where: { $0.account == account }) else {
            throw CommandError(
                "\(stateDirectory) has no account \(account.npub); `pikabot accounts` lists its accounts")
        }
        return entry
    }
}

extension AccountDirectory.Entry {
    /// Throws if the account's deletion is unfinished.
    func requireIntact() throws {
        guard case .wiping = identity else { return }
        throw CommandError(
            "the deletion of \(account.npub) is unfinished; run: pikabot logout --erase --account \(account.npub)")
    }

    var json: JSONValue {
        var json = ResultJSON.identity(account)
        json["key"] = .string(keyForm)
        json["logged_in"] = .bool(isLoggedIn)
        json["current"] = .bool(isCurrent)
        return .object(json)
    }

    private var keyForm: String {
        switch identity {
        case .key: "plain"
        case .encryptedKey: "encrypted"
        case .bunker: "remote_signer"
        case .wiping: "erasing"
        }
    }
}
