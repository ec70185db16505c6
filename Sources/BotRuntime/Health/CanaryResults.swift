import Nostr
import Synchronization

/// The outcome of the latest canary of each relay.
final class CanaryResults: Sendable {
    struct Entry: Hashable, Sendable {
        let outcome: Canary.Outcome
        /// The time of the outcome, in Unix milliseconds.
        let at: Int64
    }

    private let entries = Mutex<[RelayURL: Entry]>([:])

    subscript(relay: RelayURL) -> Entry? { entries.withLock { $0[relay] } }

    func note(_ outcome: Canary.Outcome, of relay: RelayURL, at time: Int64) {
        entries.withLock { $0[relay] = Entry(outcome: outcome, at: time) }
    }
}
