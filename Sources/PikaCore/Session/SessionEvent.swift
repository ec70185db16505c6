public import Nostr

/// Something that happened in a chat of the account that was logged in then.
public struct SessionEvent: Sendable, Hashable {
    public let account: PublicKey
    public let event: CoreEvent
}
