import Nostr

/// What came of a conversation with one relay.
struct RelayRecord: Hashable, Sendable {
    /// What became of something that was written.
    enum Attempt: Hashable, Sendable {
        /// It came back, after so long.
        case returned(Duration)
        /// The relay said that it has it, and did not give it back.
        case kept
        case refused(String)
        /// No answer.
        case lost(String)
    }

    /// Why there was no connection; all else is missing then.
    var failure: String?
    /// The relay asked who is there (NIP-42).
    var wasChallenged = false
    /// An event that is only passed on, through a subscription of our own.
    var echo: Attempt?
    /// As a group's messages are: kind 445, by a throwaway key.
    var groupEvent: Attempt?
    /// As an invitation is: kind 1059, by a throwaway key.
    var giftWrap: Attempt?
    /// The accounts' key packages and relay lists; nil if the relay did not answer.
    var stored: [Event]?
    /// Why not.
    var storedFailure: String?
}
