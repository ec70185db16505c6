import Nostr

/// NIP-42 state of one connection: the challenge, the signed event and the relay's answer.
struct Login: Hashable {
    /// Longer challenges are not signed.
    static let longestChallenge = 1_024
    /// Attempts per connection; challenges after them are ignored.
    static let maximumAttempts = 8

    enum Stage: Hashable {
        case none
        case signing
        case sent(EventID)
        case accepted
        case failed
        /// Not answered, because the account has not chosen the relay: a login would tell it whose connection this is.
        case withheld
    }

    private(set) var stage = Stage.none
    private var challenge: String?
    private var attempts = 0

    /// Whether a login may still succeed, so that requests wait for it.
    var isPossible: Bool { stage != .failed && stage != .withheld && attempts <= Login.maximumAttempts }

    /// Handles a challenge; returns it if it is to be signed now.
    mutating func challenged(_ challenge: String) -> String? {
        guard challenge != self.challenge, !challenge.isEmpty, challenge.utf8.count <= Login.longestChallenge else {
            return nil
        }
        attempts += 1
        guard attempts <= Login.maximumAttempts else { return nil }
        self.challenge = challenge
        stage = .signing
        return challenge
    }

    /// Leaves the challenge unanswered for now.
    mutating func withhold() { stage = .withheld }

    /// Returns the challenge to sign now that the account has chosen the relay, if there is one.
    mutating func resume() -> String? {
        guard stage == .withheld else { return nil }
        stage = .signing
        return challenge
    }

    /// Handles the signer's answer; returns false if it is for an old challenge or empty.
    mutating func signed(_ event: Event?, challenge: String) -> Bool {
        guard stage == .signing, challenge == self.challenge else { return false }
        stage = event.map { .sent($0.id) } ?? .failed
        return event != nil
    }

    /// Handles an OK; returns nil if it is not for this login, otherwise whether the login succeeded.
    mutating func answered(_ id: EventID?, accepted: Bool) -> Bool? {
        guard let id, stage == .sent(id) else { return nil }
        stage = accepted ? .accepted : .failed
        return accepted
    }
}
