public import Nostr

/// What an account needs to run, opened for it alone.
public struct AccountResources: Sendable {
    public let store: any CoreStore
    public let transport: any RelayTransport
    public let media: any MediaStore
    public let cache: any MediaCache
    public let callMedia: any CallMediaTransport
    /// Does the transport's work until it is cancelled or the transport is shut down; an error ends the session.
    public let run: @Sendable () async throws -> Void
    /// Closes everything; called once, when nothing uses it any more. The transport was shut down before.
    public let close: @Sendable () async -> Void

    public init(
        store: any CoreStore, transport: any RelayTransport, media: any MediaStore = NoMediaStore(),
        cache: any MediaCache = NoMediaCache(), callMedia: any CallMediaTransport = NoCallMediaTransport(),
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

/// Connections to a remote signer's relays and to nothing else.
public struct SignerResources: Sendable {
    public let transport: any RelayTransport
    /// Does the transport's work until it is cancelled or the transport is shut down; an error ends the session.
    public let run: @Sendable () async throws -> Void

    public init(transport: any RelayTransport, run: @escaping @Sendable () async throws -> Void = {}) {
        self.transport = transport
        self.run = run
    }
}

/// Gives each account its own state and connections.
public protocol AccountHost: Sendable {
    /// Opens the state of an account, new or known, and its connections. What it throws is shown to people.
    func open(_ key: AccountKey) async throws -> AccountResources

    /// Opens connections to a remote signer, whether or not it is there; they end with a shutdown, also if they never
    /// ran. Relays that ask who is there are told that it is `client`. What it throws is shown to people.
    func openSigner(client: KeyPair) async throws -> SignerResources

    /// Deletes everything that is stored of an account, also what an earlier call that failed has left; nothing of
    /// it is open. Does nothing if there is nothing.
    func wipe(_ account: PublicKey) async throws
}
