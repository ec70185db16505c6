/// Message from a client to a relay (NIP-01, NIP-42, NIP-45).
public enum ClientMessage: Hashable, Sendable {
    case event(Event)
    case request(subscription: String, filters: [Filter])
    case close(subscription: String)
    case authenticate(Event)
    case count(subscription: String, filters: [Filter])
}
