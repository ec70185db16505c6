import PikaCore
import Synchronization

/// Subscriptions with a listener of their own, besides the consumer of the pool's updates.
///
/// A slow listener loses its oldest updates: it never delays a connection.
final class SideListeners: Sendable {
    private static let maximumWaiting = 64

    private let listeners = Mutex<[String: AsyncStream<RelayUpdate>.Continuation]>([:])

    /// Returns the updates of a subscription from now on; ends an earlier listener's stream.
    func add(_ subscription: String) -> AsyncStream<RelayUpdate> {
        let (updates, continuation) = AsyncStream.makeStream(
            of: RelayUpdate.self, bufferingPolicy: .bufferingNewest(Self.maximumWaiting))
        listeners.withLock { $0.updateValue(continuation, forKey: subscription) }?.finish()
        return updates
    }

    func remove(_ subscription: String) {
        listeners.withLock { $0.removeValue(forKey: subscription) }?.finish()
    }

    func removeAll() {
        let all = listeners.withLock { listeners in
            defer { listeners = [:] }
            return listeners.values
        }
        for continuation in all { continuation.finish() }
    }

    /// Delivers the update to its side listener; returns false if it has none.
    func deliver(_ update: RelayUpdate) -> Bool {
        let subscription: String
        switch update {
        case .event(_, let id, _), .endOfStoredEvents(_, let id), .closed(_, let id, _): subscription = id
        case .state, .refused, .clock: return false
        }
        guard let listener = listeners.withLock({ $0[subscription] }) else { return false }
        listener.yield(update)
        return true
    }
}
