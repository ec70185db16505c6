package import Logging
import NIOCore
import NIOPosix
import ProcessSupport
import ServiceLifecycle

/// Serves operator commands on a Unix socket that only its owner and root can use.
package struct ControlServer: Service {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Maximum number of bytes of a command.
    private static let longestLine = 64 * 1024
    private static let maximumClients = 32

    /// Ends a client's connection.
    private struct OverlongLine: Error, CustomStringConvertible {
        var description: String { "expected at most \(ControlServer.longestLine) bytes in a line" }
    }

    private let path: String
    private let descriptor: Int32
    private let answer: @Sendable (ControlValue) async -> ControlReply
    private let logger: Logger

    /// Creates the socket, so that errors surface before anything starts.
    ///
    /// Throws `SupervisorError.Code.noControlSocket`.
    package init(
        path: String, logger: Logger, answer: @escaping @Sendable (ControlValue) async -> ControlReply
    ) throws(SupervisorError) {
        self.path = path
        descriptor = try ControlSocket.bind(path)
        self.logger = logger
        self.answer = answer
    }

    /// Serves until a graceful shutdown or cancellation, and removes the socket. May be called once.
    package func run() async throws {
        defer { ControlSocket.removeUnlessLive(path) }
        let server = try await listen()
        do { try await serve(server) } catch is CancellationError where Task.isShuttingDownGracefully {}
    }

    private func listen() async throws -> NIOAsyncChannel<Connection, Never> {
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // A client that has shut down its sending side still gets its replies.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(descriptor) { channel in
                PeerCredentials.check(channel).flatMapThrowing {
                    try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    private func serve(_ server: NIOAsyncChannel<Connection, Never>) async throws {
        try await cancelWhenGracefulShutdown {
            try await server.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    let clients = ClientCount(maximum: Self.maximumClients)
                    for try await connection in connections {
                        group.addTask { await self.serve(connection, clients) }
                    }
                }
            }
        }
    }

    private func serve(_ connection: Connection, _ clients: ClientCount) async {
        let hasEntered = clients.enter()
        defer { if hasEntered { clients.leave() } }
        do {
            try await connection.executeThenClose { inbound, outbound in
                guard hasEntered else {
                    let failure = ControlReply.failure(code: "tooManyClients", message: "too many clients")
                    return try await write(failure, to: connection.channel, outbound)
                }
                var assembler = LineAssembler(limit: Self.longestLine)
                for try await buffer in inbound {
                    var pieces: [LineAssembler.Piece] = []
                    assembler.append(buffer.readableBytesView) { pieces.append($0) }
                    for piece in pieces { try await serve(piece, of: connection.channel, outbound) }
                }
                // An unterminated last line counts too.
                var rest: [LineAssembler.Piece] = []
                assembler.finish { rest.append($0) }
                for piece in rest { try await serve(piece, of: connection.channel, outbound) }
            }
        } catch {
            logger.debug("Control connection failed", metadata: ["reason": "\(error)"])
        }
    }

    private func serve(
        _ piece: LineAssembler.Piece, of channel: any Channel,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        guard case .line = piece else { throw OverlongLine() }
        let reply =
            if let request = ControlValue(json: piece.text) { await answer(request) } else {
                ControlReply.badRequest("expected one JSON object per line")
            }
        try await write(reply, to: channel, outbound)
    }

    private func write(
        _ reply: ControlReply, to channel: any Channel, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        switch reply {
        case .result(let value): try await outbound.write(Self.line(["result": value]))
        case .last(let value, let then):
            // Even if the client has hung up.
            defer { then() }
            try await outbound.write(Self.line(["result": value]))
        case .failure(let code, let message):
            try await outbound.write(Self.line(["error": ["code": .string(code), "message": .string(message)]]))
        case .lines(let lines): try await follow(lines, until: channel.closeFuture, outbound)
        }
    }

    /// Writes log lines until the client has hung up.
    private func follow(
        _ lines: AsyncStream<WorkerLog.Line>, until closed: EventLoopFuture<Void>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        let (end, reached) = AsyncStream.makeStream(of: Never.self)
        closed.whenComplete { _ in reached.finish() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await line in lines { try await outbound.write(Self.line(line.json)) }
            }
            group.addTask {
                for await _ in end {}
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private static func line(_ value: ControlValue) -> ByteBuffer { ByteBuffer(string: value.json + "\n") }
}
