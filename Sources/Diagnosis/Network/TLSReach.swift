import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A TLS handshake with a host, and what its certificate says.
enum TLSReach {
    struct Certificate: Hashable, Sendable {
        /// Unix seconds.
        let begin: Int64
        let end: Int64
        /// What it is for; from outside, and fit for a terminal.
        let names: String
    }

    /// Throws ``NetworkError``.
    ///
    /// - Parameter isVerified: Whether the certificate must hold for the host and be trusted here; if not the handshake
    ///   only fetches it.
    static func handshake(
        with host: String, at address: SocketAddress, isVerified: Bool = true, within limit: Duration
    ) async throws(NetworkError) -> Certificate {
        do {
            var settings = TLSConfiguration.makeClientConfiguration()
            if !isVerified { settings.certificateVerification = .none }
            let context = try NIOSSLContext(configuration: settings)
            // Server name indication is for names only; an address is compared with the certificate as it is.
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            let handshake = NIOSingletons.posixEventLoopGroup.any().makePromise(of: Certificate.self)
            let channel = try await ClientBootstrap(group: handshake.futureResult.eventLoop)
                .connectTimeout(TimeAmount(limit))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let tls = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
                        try channel.pipeline.syncOperations.addHandlers([tls, HandshakeHandler(handshake)])
                    }
                }
                .connect(to: address).get()
            let timer = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
                handshake.fail(NetworkError("the TLS handshake did not end within \(limit)"))
            }
            defer { timer.cancel() }
            do {
                let certificate = try await handshake.futureResult.get()
                try? await channel.close()
                return certificate
            } catch {
                try? await channel.close()
                throw error
            }
        } catch let error as NetworkError { throw error } catch { throw NetworkError(error) }
    }
}

/// Waits for the end of the handshake.
private final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let promise: EventLoopPromise<TLSReach.Certificate>

    init(_ promise: EventLoopPromise<TLSReach.Certificate>) { self.promise = promise }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { finish(context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate() else {
            return promise.fail(NetworkError("it shows no certificate"))
        }
        promise.succeed(
            TLSReach.Certificate(
                begin: Int64(certificate.notValidBefore), end: Int64(certificate.notValidAfter),
                names: Self.names(certificate.description)))
    }

    /// The values of `<NIOSSLCertificate;serial_number=…;common_name=…;alternative_names=…>`, the only public form.
    private static func names(_ text: String) -> String {
        let fields = text.dropLast().split(separator: ";").dropFirst(2).compactMap { $0.split(separator: "=").last }
        let plain = fields.joined(separator: ", ").unicodeScalars.filter { $0.properties.generalCategory != .control }
        return plain.isEmpty ? "no name" : String(String.UnicodeScalarView(plain).prefix(200))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(NetworkError("it closed the connection during the TLS handshake"))
        context.fireChannelInactive()
    }
}
