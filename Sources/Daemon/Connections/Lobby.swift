import NIOCore
import Synchronization

/// Connections that were accepted and are not served yet. Those that nobody will serve any more are closed.
final class Lobby: Sendable {
    /// Nil once nobody is served any more.
    private let waiting = Mutex<[ObjectIdentifier: any Channel]?>([:])

    /// False if it comes too late.
    func enter(_ channel: any Channel) -> Bool {
        self.waiting.withLock { waiting in
            guard waiting != nil else { return false }
            waiting?[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    func leave(_ channel: any Channel) { self.waiting.withLock { $0?[ObjectIdentifier(channel)] = nil } }

    func close() {
        let left = self.waiting.withLock { $0.take() }
        for channel in left?.values.map({ $0 }) ?? [] { channel.close(promise: nil) }
    }
}
