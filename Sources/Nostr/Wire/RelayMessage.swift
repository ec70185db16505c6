/// Message from a relay to a client (NIP-01, NIP-42, NIP-45).
public enum RelayMessage: Hashable, Sendable {
    /// `EVENT`: an event that matches a subscription, not verified.
    case event(subscription: String, Event)
    /// Answer to an event. The id is nil if the relay could not read one; some then send an empty string.
    case ok(EventID?, accepted: Bool, message: String)
    /// `EOSE`: all stored events of a subscription have been sent; later ones are new.
    case endOfStoredEvents(subscription: String)
    /// `CLOSED`: the relay has ended or refused a subscription; the message may begin with a ``MessagePrefix``.
    case closed(subscription: String, message: String)
    /// `NOTICE`: a text for people.
    case notice(String)
    /// `AUTH`: a challenge to sign (NIP-42).
    case authentication(challenge: String)
    /// `COUNT`: the number of matching events (NIP-45).
    case count(subscription: String, Int)
}
