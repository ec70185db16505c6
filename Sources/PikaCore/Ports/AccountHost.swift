package import Nostr

/// The resources of one running account, opened for that account only.
package struct AccountResources: Sendable {
    package let store: any CoreStore
    package let transport: any RelayTransport
    package let media: any MediaStore
    package let cache: any MediaCache
    package let callMedia: any CallMediaEngine
    /// Runs the transport until it is cancelled or shut down; an error ends the session.
    package let run: @Sendable () async throws -> Void
    /// Closes everything. Called once, after the transport was shut down and all uses have ended.
    package let close: @Sendable () async -> Void

    package init(
        store: any CoreStore, transport: any RelayTransport, media: any MediaStore = NoMediaStore(),
        cache: any MediaCache = NoMediaCache(), callMedia: any CallMediaEngine = NoCallMedia(),
        run: @escaping @Sendable () async throws -> Void = {}, close: @escaping @Sendable () async -> Void = {}
    ) {
        self.store = store
        self.transport = transport
        self.media = media
        self.cache = cache
        self.callMedia = callMedia
        self.run = run
        self.close = close
    }
}

/// Connections to a remote signer's relays only.
package struct SignerResources: Sendable {
    package let transport: any RelayTransport
    /// Runs the transport until it is cancelled or shut down; an error ends the session.
    package let run: @Sendable () async throws -> Void

    package init(transport: any RelayTransport, run: @escaping @Sendable () async throws -> Void = {}) {
        self.transport = transport
        self.run = run
    }
}

/// Gives each account its own store and connections.
package protocol AccountHost: Sendable {
    /// Opens the state and the connections of a new or known account. Its errors are shown to users.
    func open(_ key: AccountKey) async throws -> AccountResources

    /// Opens connections to a remote signer's relays, even if the signer is offline; a shutdown ends them, even if they
    /// never ran. Authenticates as `client` to relays that ask for it. Its errors are shown to users.
    func openSigner(client: KeyPair) async throws -> SignerResources

    /// Deletes everything stored for an account, including leftovers of an earlier call that failed. Called only while
    /// nothing of the account is open. Does nothing if nothing is stored.
    func wipe(_ account: PublicKey) async throws
}
