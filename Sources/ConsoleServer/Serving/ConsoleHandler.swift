import ConsolePages
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Translates between the server library and ``ConsoleResponder``.
struct ConsoleHandler: HTTPResponder {
    /// A request's connection.
    struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        /// The client's IP address.
        let address: String

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            address = source.channel.remoteAddress?.ipAddress ?? ""
        }
    }

    let responder: ConsoleResponder

    func respond(to request: Request, context: Context) async throws -> Response {
        let answer = await responder.respond(to: ConsoleRequest(request, from: context.address))
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let status = HTTPResponse.Status(code: answer.status)
        switch answer.body {
        case .bytes(let bytes):
            if answer.status != 304 { fields[.contentLength] = "\(bytes.count)" }
            let hasBody = request.method != .head && answer.status != 304
            return Response(
                status: status, headers: fields,
                body: hasBody ? ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) : ResponseBody())
        case .stream(let stream):
            return Response(status: status, headers: fields, body: Self.body(stream, of: request))
        }
    }

    /// Writes live updates until the browser leaves, or the program ends.
    private static func body(_ stream: LiveStream, of request: Request) -> ResponseBody {
        ResponseBody { writer in
            // One element: the stream reads the newest state at each.
            let (wake, feeder) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            // Cancelled when the scope is left.
            async let _: Void = stream.feed(feeder)
            async let _: Void = finish(feeder, whenClosed: request.body)
            async let _: Void = finishAtShutdown(feeder)
            try await stream.serve(wake) { @concurrent in try await writer.write(ByteBuffer(string: $0)) }
            try await writer.finish(nil)
        }
    }

    /// Finishes a stream when the client closes the connection.
    private static func finish(_ feeder: AsyncStream<Void>.Continuation, whenClosed body: RequestBody) async {
        let (never, hold) = AsyncStream.makeStream(of: Void.self)
        defer { hold.finish() }
        try? await body.consumeWithInboundCloseHandler { _ in
            // Until the task is cancelled.
            for await _ in never {}
        } onInboundClosed: {
            feeder.finish()
        }
    }

    private static func finishAtShutdown(_ feeder: AsyncStream<Void>.Continuation) async {
        guard (try? await gracefulShutdown()) != nil else { return }
        feeder.finish()
    }
}

extension ConsoleRequest {
    fileprivate static let fetchSite = HTTPField.Name("Sec-Fetch-Site")
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID")

    init(_ request: Request, from address: String) {
        self.init(request.method.rawValue, request.head.path ?? "")
        self.address = address
        let fields = request.headers
        headers = RequestRules.Headers(
            host: request.head.authority, origin: fields[.origin],
            fetchSite: Self.fetchSite.flatMap { fields[$0] })
        cookies = fields[values: .cookie]
        authorization = fields[.authorization]
        contentType = fields[.contentType]
        ifNoneMatch = fields[.ifNoneMatch]
        lastEventID = Self.lastEventID.flatMap { fields[$0] }
        body = { await Self.read(request.body, upTo: $0) }
    }

    private static func read(_ body: RequestBody, upTo limit: Int) async -> Body {
        await withTaskGroup(of: Body.self) { group in
            group.addTask {
                do {
                    let buffer = try await body.collect(upTo: limit)
                    return .complete(Array(buffer.readableBytesView))
                } catch is NIOTooManyBytesError { return .tooLarge } catch { return .tooSlow }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(10))
                return .tooSlow
            }
            defer { group.cancelAll() }
            return await group.next() ?? .tooSlow
        }
    }
}
