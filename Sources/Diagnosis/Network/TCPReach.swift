import NIOCore
import NIOPosix

/// Checks whether an address accepts TCP connections.
enum TCPReach {
    /// Connects and closes the connection. Throws ``NetworkError``.
    static func connect(to address: SocketAddress, within limit: Duration) async throws(NetworkError) {
        do {
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(TimeAmount(limit)).connect(to: address).get()
            try? await channel.close()
        } catch {
            throw NetworkError(error)
        }
    }
}
