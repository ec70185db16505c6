/// Message from a client to a relay (NIP-01, NIP-42, NIP-45).
public enum ClientMessage: Hashable, Sendable {
    /// `EVENT`: publishes an event.
    case event(Event)
    /// `REQ`: opens or replaces a subscription to events that match any of the filters; at least one.
    case request(subscription: String, filters: [Filter])
    /// `CLOSE`: ends a subscription.
    case close(subscription: String)
    /// `AUTH`: answers a challenge with a signed event of kind 22242 (NIP-42).
    case authenticate(Event)
    /// `COUNT`: asks for the number of stored events that match any of the filters (NIP-45).
    case count(subscription: String, filters: [Filter])
}
