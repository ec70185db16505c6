import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

/// A TLS handshake with a host, and what its certificate says.
enum TLSReach {
    struct Certificate: Hashable, Sendable {
        /// Unix seconds.
        let begin: Int64
        let end: Int64
        /// The earliest end in the whole chain that was shown; that of the certificate itself where only it was looked at.
        var chainEnd: Int64
        /// What it is for; from outside, and fit for a terminal.
        let names: String

        init(begin: Int64, end: Int64, chainEnd: Int64? = nil, names: String) {
            (self.begin, self.end, self.chainEnd, self.names) = (begin, end, chainEnd ?? end, names)
        }
    }

    /// How long the other side has to say goodbye; what was looked at is known by then.
    static let closeTimeout = Duration.milliseconds(200)

    /// The system's authorities, and those in PEM files. Throws ``NetworkError`` for a file that holds none.
    static func settings(_ trustRootFiles: [String] = []) throws(NetworkError) -> TLSConfiguration {
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.shutdownTimeout = TimeAmount(closeTimeout)
        do {
            settings.additionalTrustRoots = try trustRootFiles.map {
                .certificates(try NIOSSLCertificate.fromPEMFile($0))
            }
        } catch {
            throw NetworkError("no certificates can be read from \(trustRootFiles.joined(separator: ", "))")
        }
        return settings
    }

    /// Throws ``NetworkError``.
    ///
    /// - Parameter isVerified: Whether the certificate must hold for the host and be trusted here; if not the handshake
    ///   only fetches it, with its chain.
    static func handshake(
        with host: String, at address: SocketAddress, isVerified: Bool = true, trustRootFiles: [String] = [],
        within limit: Duration
    ) async throws(NetworkError) -> Certificate {
        do {
            var settings = try settings(trustRootFiles)
            // The chain is then taken by the callback; without any verification nobody would be called.
            if !isVerified { settings.certificateVerification = .noHostnameVerification }
            let context = try NIOSSLContext(configuration: settings)
            let deadline = NIODeadline.now() + TimeAmount(limit)
            let chain = ChainNote()
            // Server name indication is for names only; an address is compared with the certificate as it is.
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
                handshake.fail(NetworkError("the TLS handshake did not end within \(limit)"))
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

/// Takes any certificates, and notes when the first of them ends.
private final class ChainNote: Sendable {
    private let earliest = Mutex<Int64?>(nil)

    /// Unix seconds; nil for none, and for those that were judged otherwise.
    var end: Int64? { earliest.withLock { $0 } }

    @Sendable func accept(
        _ certificates: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>
    ) {
        earliest.withLock { $0 = certificates.map { Int64($0.notValidAfter) }.min() }
        promise.succeed(.certificateVerified)
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
