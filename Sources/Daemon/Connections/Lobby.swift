import NIOCore
import Synchronization

/// Connections that were accepted and are not served yet.
///
/// It holds them, and ends those that nobody will serve any more: a connection that is let go of without being ended
/// ends the process.
final class Lobby: Sendable {
    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Nil once nobody is served any more.
    private let waiting = Mutex<[ObjectIdentifier: Connection]?>([:])

    /// On the channel's event loop, before its first bytes: they, and their end, are lost otherwise.
    ///
    /// Throws when it comes too late.
    func enter(_ channel: any Channel) throws -> Connection {
        try self.waiting.withLock { waiting in
            guard waiting != nil else { throw ChannelError.ioOnClosedChannel }
            let connection = try Connection(wrappingChannelSynchronously: channel)
            waiting?[ObjectIdentifier(channel)] = connection
            return connection
        }
    }

    /// Whoever calls it ends the connection.
    func leave(_ connection: Connection) {
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
