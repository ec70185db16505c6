import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Nostr
import Synchronization

/// TLS handshake with a host, and its certificate's data.
enum TLSReach {
    struct Certificate: Hashable, Sendable {
        /// The start of the validity.
        let begin: UnixTime
        let end: UnixTime
        /// The earliest expiry in the chain that the host sent, or that of the leaf certificate if only that was
        /// examined.
        var chainEnd: UnixTime
        /// The certificate's names; untrusted, but sanitised for a terminal.
        let names: String

        init(begin: UnixTime, end: UnixTime, chainEnd: UnixTime? = nil, names: String) {
            (self.begin, self.end, self.chainEnd, self.names) = (begin, end, chainEnd ?? end, names)
        }
    }

    /// Timeout of the TLS closure; the handshake's result is known by then.
    static let closeTimeout = Duration.milliseconds(200)

    /// Returns settings with the system's authorities and those in PEM files. Throws ``NetworkError`` for a file
    /// without any.
    static func settings(_ trustRootFiles: [String] = []) throws(NetworkError) -> TLSConfiguration {
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.shutdownTimeout = TimeAmount(closeTimeout)
        do {
            settings.additionalTrustRoots = try trustRootFiles.map {
                .certificates(try NIOSSLCertificate.fromPEMFile($0))
            }
        } catch {
            throw NetworkError("cannot read PEM certificates from \(trustRootFiles.joined(separator: ", "))")
        }
        return settings
    }

    /// Performs a handshake. Throws ``NetworkError``.
    ///
    /// - Parameter isVerified: Whether the certificate must be trusted and valid for the host; if not, the handshake
    ///   only fetches the certificate and its chain.
    static func handshake(
        with host: String, at address: SocketAddress, isVerified: Bool = true, trustRootFiles: [String] = [],
        within limit: Duration
    ) async throws(NetworkError) -> Certificate {
        do {
            var settings = try settings(trustRootFiles)
            // The callback then accepts the chain; with verification off it would not be called.
            if !isVerified { settings.certificateVerification = .noHostnameVerification }
            let context = try NIOSSLContext(configuration: settings)
            let deadline = NIODeadline.now() + TimeAmount(limit)
            let chain = ChainExpiryRecorder()
            // Server name indication is for names only; an IP address is compared with the certificate itself.
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            let handshake = NIOSingletons.posixEventLoopGroup.any().makePromise(of: Certificate.self)
            let channel = try await ClientBootstrap(group: handshake.futureResult.eventLoop)
                .connectTimeout(TimeAmount(limit))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let name = isAddress ? nil : host
                        let tls =
                            isVerified
                            ? try NIOSSLClientHandler(context: context, serverHostname: name)
                            : try NIOSSLClientHandler(
                                context: context, serverHostname: name, customVerificationCallback: chain.accept)
                        try channel.pipeline.syncOperations.addHandlers([tls, HandshakeHandler(handshake)])
                    }
                }
                .connect(to: address).get()
            let timer = channel.eventLoop.scheduleTask(deadline: deadline) {
                handshake.fail(NetworkError("the TLS handshake timed out after \(limit)"))
            }
            defer { timer.cancel() }
            do {
                var certificate = try await handshake.futureResult.get()
                if let end = chain.end { certificate.chainEnd = min(end, certificate.end) }
                try? await channel.close()
                return certificate
            } catch {
                try? await channel.close()
                throw error
            }
        } catch let error as NetworkError { throw error } catch { throw NetworkError(error) }
    }
}

/// Accepts any certificates, and records their earliest expiry.
private final class ChainExpiryRecorder: Sendable {
    private let earliest = Mutex<UnixTime?>(nil)

    /// The earliest expiry; nil if there were none or if the callback was not used.
    var end: UnixTime? { earliest.withLock { $0 } }

    @Sendable func accept(
        _ certificates: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>
    ) {
        earliest.withLock { $0 = certificates.map { UnixTime(Int64($0.notValidAfter)) }.min() }
        promise.succeed(.certificateVerified)
    }
}

/// Waits until the handshake is complete.
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
            return promise.fail(NetworkError("the server sent no certificate"))
        }
        promise.succeed(
            TLSReach.Certificate(
                begin: UnixTime(Int64(certificate.notValidBefore)), end: UnixTime(Int64(certificate.notValidAfter)),
                names: Self.names(certificate.description)))
    }

    /// Extracts the names from `<NIOSSLCertificate;serial_number=…;common_name=…;alternative_names=…>`, their only
    /// public form.
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
        promise.fail(NetworkError("the server closed the connection during the TLS handshake"))
        context.fireChannelInactive()
    }
}
