import FeedRules
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import Nostr
package import PikaCore

/// The address of the webhook listener.
package struct WebhookAddress: Sendable, Hashable {
    package var host: String
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

/// The HTTP server of an account's webhook feeds: `POST /feeds/NAME`.
///
/// It speaks plain HTTP/1.1: a reverse proxy adds TLS, so that certificates are managed in one place. Connections, bodies
/// and times are bounded; what a proxy forwards in headers about the client is not used.
package struct WebhookServer: Sendable {
    static let maximumConnections = 128
    /// The time in milliseconds in which a body must arrive.
    static let bodyDeadline: Int64 = 15_000
    private static let idleTimeout = TimeAmount.seconds(30)
    /// The time that a client has to read the answer to a body that is not read to its end.
    private static let closeAfter = TimeAmount.seconds(2)

    private let address: WebhookAddress
    private let gates: [String: WebhookGate]
    private let clock: any CoreClock
    private let logger: Logger

    package init(_ address: WebhookAddress, gates: [String: WebhookGate], clock: any CoreClock, logger: Logger) {
        self.address = address
        self.gates = gates
        self.clock = clock
        self.logger = logger
    }

    /// Serves until the task is cancelled or the service group shuts down. Throws `FeedError.Code.listener`.
    ///
    /// - Parameter isListening: Called when requests are accepted.
    package func run(_ isListening: @escaping @Sendable () -> Void) async throws {
        let responder = CallbackResponder<WebhookContext> { request, context in
            await self.respond(to: request, context)
        }
        let channel = HTTP1Channel.Configuration(idleTimeout: Self.idleTimeout)
        let configuration = ApplicationConfiguration(
            address: .hostname(address.host, port: address.port),
            availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnections))
        let logger = logger
        let application = Application(
            responder: responder, server: .http1(configuration: channel), configuration: configuration,
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                logger.notice("Listening for webhooks", metadata: ["port": "\(port)"])
                isListening()
            }, logger: logger)
        do { try await application.run() } catch let error as CancellationError { throw error } catch {
            throw FeedError(.listener, "cannot listen on \(address.host):\(address.port): \(error)")
        }
        try Task.checkCancellation()
    }

    private func respond(to request: Request, _ context: WebhookContext) async -> Response {
        let (answer, isComplete) = await self.answer(to: request)
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        if case .refused(let refusal) = answer {
            if let seconds = refusal.retryAfter { headers[.retryAfter] = "\(seconds)" }
            if refusal == .notPost { headers[.allow] = "POST" }
        }
        if !isComplete {
            headers[.connection] = "close"
            let channel = context.channel
            _ = channel.eventLoop.scheduleTask(in: Self.closeAfter) { channel.close(promise: nil) }
        }
        return Response(
            status: HTTPResponse.Status(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.json.json())))
    }

    /// Returns the answer, and whether the request's body was read to its end.
    private func answer(to request: Request) async -> (WebhookAnswer, isComplete: Bool) {
        guard let gate = gate(of: request.uri.path) else { return (.refused(.unknownFeed), false) }
        guard request.method == .post else { return (.refused(.notPost), false) }
        let limit = gate.maximumBytes
        let announced = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard announced <= limit else { return (gate.refuse(.tooLarge(limit: limit)), false) }
        let body: [UInt8]?
        do {
            let stream = request.body
            body = try await clock.within(milliseconds: Self.bodyDeadline) { try await Self.collect(stream, limit) }
        } catch { return (gate.refuse(.tooSlow), false) }
        guard let body else { return (gate.refuse(.tooLarge(limit: limit)), false) }
        let fields = request.headers
        let headers = WebhookHeaders { name in
            HTTPField.Name(name).map { fields[values: $0] } ?? []
        }
        return (await gate.answer(headers, body: body), true)
    }

    private func gate(of path: String) -> WebhookGate? {
        guard path.hasPrefix("/feeds/") else { return nil }
        return gates[String(path.dropFirst(7))]
    }

    /// Reads a body; nil if it has more than `limit` bytes.
    private static func collect(_ body: RequestBody, _ limit: Int) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        for try await part in body {
            guard bytes.count + part.readableBytes <= limit else { return nil }
            bytes.append(contentsOf: part.readableBytesView)
        }
        return bytes
    }
}

/// The connection of a request.
private struct WebhookContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }
}
