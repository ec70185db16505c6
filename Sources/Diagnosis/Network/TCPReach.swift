import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether somebody listens at an address.
enum TCPReach {
    /// Connects and hangs up. Throws ``NetworkError``.
    static func connect(to address: SocketAddress, within limit: Duration) async throws(NetworkError) {
        do {
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(TimeAmount(limit)).connect(to: address).get()
            try? await channel.close()
        } catch ChannelError.connectTimeout {
            throw NetworkError("no answer within \(limit)")
        } catch let error as IOError {
            throw NetworkError(String(cString: strerror(error.errnoCode)))
        } catch {
            throw NetworkError("\(error)")
        }
    }
}
