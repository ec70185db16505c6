public import Nostr

/// An event in a chat, with the account that it was delivered to.
public struct SessionEvent: Sendable, Hashable {
    public let account: PublicKey
    public let event: CoreEvent
}
