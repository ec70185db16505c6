package import Logging
package import MLS

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
    /// Runs the cryptography for many members, such as the verification of a joined group's leaves.
    package var work: any WorkExecutor = SerialWork()
    /// Receives the outcomes of events that are not delivered to handlers.
    package var observer: any CoreObserver = NoCoreObserver()
    /// Handles each event in the core's turn, instead of a reader of ``AppCore/events`` who completes it; must return
    /// quickly. The completion is stored with the next turn: after a crash before that, the event is delivered again.
    package var eventReceiver: (@Sendable (CoreEvent) -> Void)?
    package var logger: Logger

    package init(transport: any RelayTransport, store: any CoreStore, clock: any CoreClock, logger: Logger) {
        self.transport = transport
        self.store = store
        self.clock = clock
        self.logger = logger
    }
}
