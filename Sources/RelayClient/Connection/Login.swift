import Nostr

/// NIP-42 on one connection: a challenge comes, an event goes out, the relay says yes or no.
struct Login: Hashable {
    /// Longer challenges are not signed.
    static let longestChallenge = 1_024
    /// A relay that asks more often on one connection is not answered any more.
    static let mostAttempts = 8

    enum Stage: Hashable {
        case none
        case signing
        case sent(EventID)
        case accepted
        case failed
        /// The relay was not told whose connection it is, because the account has not chosen it.
        case withheld
    }

    private(set) var stage = Stage.none
    private var challenge: String?
    private var attempts = 0

    /// Whether a login may still come, so that waiting for it makes sense.
    var isPossible: Bool { stage != .failed && stage != .withheld && attempts <= Login.mostAttempts }

    /// The challenge to sign now, if any.
    mutating func challenged(_ challenge: String) -> String? {
        guard challenge != self.challenge, !challenge.isEmpty, challenge.utf8.count <= Login.longestChallenge else {
            return nil
        }
        attempts += 1
        guard attempts <= Login.mostAttempts else { return nil }
        self.challenge = challenge
        stage = .signing
        return challenge
    }

    /// The challenge is not answered for now.
    mutating func withhold() { stage = .withheld }

    /// The challenge to sign now that the account has chosen the relay, if any.
    mutating func resume() -> String? {
        guard stage == .withheld else { return nil }
        stage = .signing
        return challenge
    }

    /// The signer's answer; false if it is for an old challenge, or there is none.
    mutating func signed(_ event: Event?, challenge: String) -> Bool {
        guard stage == .signing, challenge == self.challenge else { return false }
        stage = event.map { .sent($0.id) } ?? .failed
        return event != nil
    }

    /// Nil if the answer is not for our login, otherwise whether we are in.
    mutating func answered(_ id: EventID?, accepted: Bool) -> Bool? {
        guard let id, stage == .sent(id) else { return nil }
        stage = accepted ? .accepted : .failed
        return accepted
    }
}
