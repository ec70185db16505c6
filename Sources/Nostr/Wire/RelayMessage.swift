/// Message from a relay to a client (NIP-01, NIP-42, NIP-45).
public enum RelayMessage: Hashable, Sendable {
    case event(subscription: String, Event)
    /// Answer to an event. The id is nil if the relay could not read one; some then send an empty string.
    case ok(EventID?, accepted: Bool, message: String)
    case endOfStoredEvents(subscription: String)
    case closed(subscription: String, message: String)
    case notice(String)
    case authentication(challenge: String)
    case count(subscription: String, Int)
}
