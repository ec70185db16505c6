package import Nostr
package import PikaCore

/// An account's key, and the connection to its remote signer, if that holds it.
package struct HeldKey: Sendable {
    package let key: AccountKey
    /// Must run while the key is used; nil if the key is local.
    package let bunker: BunkerConnection?

    package init(_ key: KeyPair) {
        self.key = .local(key)
        self.bunker = nil
    }

    package init(_ account: PublicKey, _ bunker: BunkerConnection) {
        self.key = .remote(account, bunker.signer)
        self.bunker = bunker
    }
}
