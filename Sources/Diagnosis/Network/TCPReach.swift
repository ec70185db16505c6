import NIOCore
import NIOPosix

/// Whether somebody listens at an address.
enum TCPReach {
    /// Connects and hangs up. Throws ``NetworkError``.
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
