import Nostr

/// Results of the exchange with one relay.
struct RelayRecord: Hashable, Sendable {
    /// Result of publishing an event.
    enum Attempt: Hashable, Sendable {
        /// The event was read back, after this time.
        case returned(Duration)
        /// The relay accepted the event, but did not return it.
        case kept
        case refused(String)
        /// There was no answer.
        case lost(String)
    }

    /// The reason why the connection failed; the other results are missing then.
    var failure: String?
    /// Whether the relay sent a NIP-42 challenge.
    var wasChallenged = false
    /// An ephemeral event, through the probe's own subscription.
    var echo: Attempt?
    /// Like a group message: kind 445, by a throwaway key.
    var groupEvent: Attempt?
    /// Like an invitation: kind 1059, by a throwaway key.
    var giftWrap: Attempt?
    /// The accounts' key packages and relay lists; nil if the relay did not answer.
    var stored: [Event]?
    /// The reason why ``stored`` is nil.
    var storedFailure: String?
}
