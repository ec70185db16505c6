package import Logging
import NIOCore
import NIOPosix
import ProcessSupport
import ServiceLifecycle

/// Serves a daemon on a Unix socket that only its owner can open, to a bounded number of clients.
package struct SocketServer: Service {
    package struct Limits: Sendable {
        package var clients = 64
        /// Maximum number of bytes of a command line.
        package var lineBytes = 16 << 20
        /// Maximum number of bytes queued for a slow client; beyond it the client is dropped.
        package var outgoingBytes = 1 << 20
        /// Deadline for writing a dropped client's last line.
        package var farewell = Duration.seconds(2)

        package init() {}
    }

    private typealias Connection = PendingConnections.Connection

    private let engine: DaemonEngine
    private let path: String
    private let limits: Limits
    private let logger: Logger
    private let pending = PendingConnections()

    package init(engine: DaemonEngine, path: String, limits: Limits = Limits(), logger: Logger) {
        self.engine = engine
        self.path = path
        self.limits = limits
        self.logger = logger
    }

    /// Serves from `ready` on until a graceful shutdown or cancellation, and removes the socket before it returns.
    ///
    /// Throws `DaemonError.Code.noSocket`.
    package func run() async throws {
        guard await self.engine.waitUntilReady() else {
            // Wait for the shutdown: a service that returns early would hide the error of the one that failed.
            try? await gracefulShutdown()
            return
        }
        let server = try await self.listen()
        defer { SocketPath.removeUnlessLive(self.path) }
        do {
            try await cancelWhenGracefulShutdown { try await self.accept(from: server) }
        } catch is CancellationError where Task.isShuttingDownGracefully {}
    }

    private func accept(from server: NIOAsyncChannel<Connection, Never>) async throws {
        let result: Result<Void, any Error>
        do {
            try await self.serveAll(of: server)
            result = .success(())
        } catch { result = .failure(error) }
        await self.pending.close()
        try result.get()
    }

    private func serveAll(of server: NIOAsyncChannel<Connection, Never>) async throws {
        try await server.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                let slots = ClientSlots(self.limits.clients)
                for try await connection in connections {
                    group.addTask { await self.serve(connection, slots) }
                }
            }
        }
    }

    private func listen() async throws -> NIOAsyncChannel<Connection, Never> {
        let pending = self.pending
        let descriptor = try SocketPath.bind(self.path)
        do {
            let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                // A client that has shut down its sending side still gets its replies.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .bind(descriptor) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try pending.add(channel)
                    }
                }
            self.logger.info("listening", metadata: ["socket": "\(self.path)"])
            return server
        } catch {
            SocketPath.remove(self.path)
            throw DaemonError(.noSocket, "\(self.path): \(error)")
        }
    }

    private func serve(_ connection: Connection, _ slots: ClientSlots) async {
        let hasSlot = slots.acquire()
        defer { if hasSlot { slots.release() } }
        self.pending.remove(connection)
        do {
            try await connection.executeThenClose { inbound, outbound in
                guard hasSlot else {
                    let failure = DaemonFailure(.tooManyClients, "the limit of clients is reached")
                    return try await outbound.write(Self.buffer([DaemonReply.error(requestID: nil, failure).line]))
                }
                let client = DaemonClient(.socket, limit: self.limits.outgoingBytes)
                await self.engine.attach(client)
                await self.converse(client, inbound, outbound)
                await self.engine.detach(client)
            }
        } catch {
            self.logger.debug("a connection has ended", metadata: ["reason": "\(error)"])
        }
    }

    /// Serves one client until it has hung up and everything is written, or it was dropped.
    private func converse(
        _ client: DaemonClient, _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.read(inbound, for: client)
                client.lines.close()
            }
            group.addTask { await self.write(client, outbound) }
            group.addTask {
                await client.lines.waitUntilClosed()
                try? await Task.sleep(for: self.limits.farewell)
                // A client that does not read blocks the writer forever, and one that does not write blocks the reader.
                client.lines.close(dropping: true)
            }
            // The writer has finished or is no longer needed.
            while await group.next() != nil {
                if client.lines.isDone { group.cancelAll() }
            }
        }
    }

    private func read(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, for client: DaemonClient) async {
        var assembler = LineAssembler(limit: self.limits.lineBytes)
        do {
            for try await buffer in inbound {
                var pieces: [LineAssembler.Piece] = []
                assembler.append(buffer.readableBytesView) { pieces.append($0) }
                for piece in pieces {
                    guard !client.lines.isClosed else { return }
                    await self.engine.receive(piece, from: client)
                }
            }
            var rest: [LineAssembler.Piece] = []
            assembler.finish { rest.append($0) }
            for piece in rest { await self.engine.receive(piece, from: client) }
        } catch {
            self.logger.debug("reading from a client has ended", metadata: ["reason": "\(error)"])
        }
    }

    private func write(_ client: DaemonClient, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async {
        do {
            while let lines = await client.lines.next() { try await outbound.write(Self.buffer(lines)) }
        } catch {
            self.logger.debug("writing to a client has ended", metadata: ["reason": "\(error)"])
        }
        client.lines.close(dropping: true)
    }

    private static func buffer(_ lines: [String]) -> ByteBuffer {
        var buffer = ByteBuffer()
        for line in lines {
            buffer.writeString(line)
            buffer.writeInteger(UInt8(ascii: "\n"))
        }
        return buffer
    }
}
