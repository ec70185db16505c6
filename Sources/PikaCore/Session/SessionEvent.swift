package import Nostr

/// An event in a chat, with the account that it was delivered to.
package struct SessionEvent: Sendable, Hashable {
    package let account: PublicKey
    package let event: CoreEvent
}
