import Nostr
import Synchronization

/// The relays of the current configuration, for the services that monitor them.
final class ConfiguredRelays: Sendable {
    private let relays: Mutex<[RelayURL]>
    private let changed: AsyncStream<Void>.Continuation
    /// Yields after changes; for a single consumer, which misses no change but may see several as one.
    let changes: AsyncStream<Void>

    init(_ relays: [RelayURL]) {
        self.relays = Mutex(relays)
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var current: [RelayURL] { relays.withLock { $0 } }

    func set(_ new: [RelayURL]) {
        let isNew = relays.withLock { relays in
            defer { relays = new }
            return relays != new
        }
        if isNew { changed.yield() }
    }
}
