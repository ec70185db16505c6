import BotKit
import Synchronization

/// The tokens used in the current window, as known to this process.
///
/// Chats are handled concurrently, so the tokens that a request may use are reserved before it is sent. Used tokens are
/// also stored in the bot's values, for the next process.
final class TokenLedger: Sendable {
    /// A budget and its owner.
    struct Account: Hashable, Sendable {
        /// The key of the stored value.
        let key: String
        let budget: TokenBudget
    }

    private struct Entry {
        var window: Int64
        var used: Int
        var reserved: Int
    }

    private static let maximumEntries = 10_000

    private let entries = Mutex<[String: Entry]>([:])

    /// Reserves tokens in all accounts, or in none of them if one has too few left.
    ///
    /// - Parameter stored: the values as returned by ``text(of:)``, by key.
    func reserve(_ tokens: Int, in accounts: [Account], at now: UnixTime, stored: [String: String]) -> Bool {
        entries.withLock { entries in
            if entries.count > Self.maximumEntries { entries = entries.filter { $0.value.reserved > 0 } }
            for account in accounts {
                let entry = Self.entry(of: account, in: entries, at: now, stored: stored)
                entries[account.key] = entry
                guard entry.used + entry.reserved + tokens <= account.budget.tokens else { return false }
            }
            for account in accounts { entries[account.key]?.reserved += tokens }
            return true
        }
    }

    /// Releases reserved tokens and counts the used ones.
    func settle(_ tokens: Int, used: Int, in accounts: [Account]) {
        entries.withLock { entries in
            for account in accounts {
                guard var entry = entries[account.key] else { continue }
                entry.reserved = max(0, entry.reserved - tokens)
                entry.used = Self.sum(entry.used, max(0, used))
                entries[account.key] = entry
            }
        }
    }

    /// Returns the value to store for an account.
    func text(of account: Account) -> String? {
        entries.withLock { entries in entries[account.key].map { "\($0.window) \($0.used)" } }
    }

    private static func entry(
        of account: Account, in entries: [String: Entry], at now: UnixTime, stored: [String: String]
    ) -> Entry {
        let window = now.seconds / account.budget.window
        if var known = entries[account.key] {
            if known.window != window { known = Entry(window: window, used: 0, reserved: known.reserved) }
            return known
        }
        let parts = (stored[account.key] ?? "").split(separator: " ")
        guard parts.count == 2, Int64(parts[0]) == window, let used = Int(parts[1]), used >= 0 else {
            return Entry(window: window, used: 0, reserved: 0)
        }
        return Entry(window: window, used: used, reserved: 0)
    }

    /// Adds with saturation, since an endpoint may report any number.
    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max / 2 : min(sum, .max / 2)
    }
}
