package import Logging

/// Everything outside the core that an account's core uses: relays, storage, media, clock, randomness and logs.
package struct CorePorts: Sendable {
    package var transport: any RelayTransport
    package var store: any CoreStore
    /// The media servers; without them, actions with files fail.
    package var media: any MediaStore = NoMediaStore()
    /// The place for downloaded files.
    package var cache: any MediaCache = NoMediaCache()
    /// The media of calls; without it, calls ring and end when they are accepted.
    package var callMedia: any CallMediaEngine = NoCallMedia()
    package var clock: any CoreClock
    /// Source of keys and nonces; anything but the system's generator is for tests only.
    package var randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    /// Receives the outcomes of events that are not delivered to handlers.
    package var observer: any CoreObserver = NoCoreObserver()
    package var logger: Logger

    package init(transport: any RelayTransport, store: any CoreStore, clock: any CoreClock, logger: Logger) {
        self.transport = transport
        self.store = store
        self.clock = clock
        self.logger = logger
    }
}
