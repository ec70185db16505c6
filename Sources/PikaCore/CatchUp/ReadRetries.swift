import MLS
import Nostr

/// Counts failed attempts to read relays: when to try again, and how long live events wait for older ones.
///
/// Live events wait for ``attempts`` failures only. A relay that never answers, or that hangs up before it answers,
/// would otherwise hold up everything that waits for its events.
struct ReadRetries: Sendable {
    enum Reading: Hashable, Sendable {
        /// All events of the account on a relay.
        case relay(RelayURL)
        /// The events of a group on a relay.
        case group(GroupID, RelayURL)
    }

    /// Failed attempts after which live events no longer wait.
    static let attempts = 3
    /// Milliseconds before the next attempt; doubled once the attempts are used up.
    static let firstDelay: Int64 = 5000
    static let maximumDelay: Int64 = 300_000

    private var failures: [Reading: Int] = [:]

    /// Whether live events no longer wait for this reading.
    func isExhausted(_ reading: Reading) -> Bool { (self.failures[reading] ?? 0) >= Self.attempts }

    /// Notes a failed attempt and returns the milliseconds before the next one.
    mutating func fail(_ reading: Reading) -> Int64 {
        let count = min((self.failures[reading] ?? 0) + 1, Self.attempts + 16)
        self.failures[reading] = count
        return min(Self.firstDelay << Int64(max(0, count - Self.attempts)), Self.maximumDelay)
    }

    mutating func succeed(_ reading: Reading) { self.failures[reading] = nil }

    /// Grants one more attempt: the relay is connected again.
    mutating func renew(_ reading: Reading) {
        guard let count = self.failures[reading] else { return }
        self.failures[reading] = min(count, Self.attempts - 1)
    }

    /// Removes the counts of a group that this account is no longer a member of.
    mutating func forget(_ groupID: GroupID) {
        self.failures = self.failures.filter { reading, _ in
            if case .group(groupID, _) = reading { false } else { true }
        }
    }
}
