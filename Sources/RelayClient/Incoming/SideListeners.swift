import PikaCore
import Synchronization

/// Who listens to a subscription of its own, besides the one consumer of the pool's updates.
///
/// What a side listener does not take in time is dropped, oldest first: it never holds up a connection.
final class SideListeners: Sendable {
    private static let mostWaiting = 64

    private let listeners = Mutex<[String: AsyncStream<RelayUpdate>.Continuation]>([:])

    /// What comes for a subscription, from now on; an earlier listener of it is ended.
    func add(_ subscription: String) -> AsyncStream<RelayUpdate> {
        let (updates, continuation) = AsyncStream.makeStream(
            of: RelayUpdate.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
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

    /// Whether the update is for a side listener, who then has it.
    func take(_ update: RelayUpdate) -> Bool {
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
