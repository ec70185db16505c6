public import Logging

/// Everything outside the core that an account's core uses: relays, storage, media, clock, randomness and logs.
public struct CorePorts: Sendable {
    public var transport: any RelayTransport
    public var store: any CoreStore
    /// The media servers; without them, actions with files fail.
    public var media: any MediaStore = NoMediaStore()
    /// The place for downloaded files.
    public var cache: any MediaCache = NoMediaCache()
    /// The transport of call media; without it, calls ring and end when they are accepted.
    public var callMedia: any CallMediaTransport = NoCallMediaTransport()
    public var clock: any CoreClock
    /// Source of keys and nonces; anything but the system's generator is for tests only.
    public var randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    /// Receives the outcomes of events that are not delivered to handlers.
    public var observer: any CoreObserver = NoCoreObserver()
    public var logger: Logger

    public init(transport: any RelayTransport, store: any CoreStore, clock: any CoreClock, logger: Logger) {
        self.transport = transport
        self.store = store
        self.clock = clock
        self.logger = logger
    }
}
