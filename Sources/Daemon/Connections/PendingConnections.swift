import NIOCore
import Synchronization

/// Accepted connections that are not served yet.
///
/// Closes those that will not be served: an NIOAsyncChannel that is released without being closed traps.
final class PendingConnections: Sendable {
    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The connections that are not served yet; nil after ``close()``.
    private let waiting = Mutex<[ObjectIdentifier: Connection]?>([:])

    /// Wraps a new channel. Must run on the channel's event loop before its first bytes arrive; otherwise those, and
    /// the end of the input, are lost.
    ///
    /// Throws `ChannelError.ioOnClosedChannel` after ``close()``.
    func add(_ channel: any Channel) throws -> Connection {
        try self.waiting.withLock { waiting in
            guard waiting != nil else { throw ChannelError.ioOnClosedChannel }
            let connection = try Connection(wrappingChannelSynchronously: channel)
            waiting?[ObjectIdentifier(channel)] = connection
            return connection
        }
    }

    /// Removes a connection; the caller must close it.
    func remove(_ connection: Connection) {
        self.waiting.withLock { $0?[ObjectIdentifier(connection.channel)] = nil }
    }

    func close() async {
        let left = self.waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting?.values.map { $0 } ?? []
        }
        for connection in left { try? await connection.executeThenClose { _, _ in } }
    }
}
