import LiveTesting
import NIOCore
import NIOEmbedded
import NIOWebSocket
import Synchronization
import Testing

@testable import RelayClient

/// The socket's side of a pipeline: counts the reads that reach it, and holds the writes.
private final class Socket: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = WebSocketFrame

    private let state = Mutex((reads: 0, writes: [EventLoopPromise<Void>]()))

    var reads: Int { state.withLock { $0.reads } }

    func read(context: ChannelHandlerContext) {
        state.withLock { $0.reads += 1 }
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        state.withLock { $0.writes.append(contentsOf: [promise].compactMap { $0 }) }
    }

    /// Takes all frames that were written.
    func takeWrites() {
        let writes = state.withLock { state in
            defer { state.writes = [] }
            return state.writes
        }
        for write in writes { write.succeed() }
    }
}

@Suite struct WebSocketChannelTests {
    private struct Failure: Error {}

    private static func frame(_ text: String) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text))
    }

    /// Opens a WebSocket over a channel that the test plays.
    private static func open() async throws -> (socket: Socket, channel: NIOAsyncTestingChannel, WebSocketChannel) {
        let channel = NIOAsyncTestingChannel()
        let socket = Socket()
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        let webSocket = try await channel.testingEventLoop.executeInContext {
            try channel.pipeline.syncOperations.addHandler(socket)
            return try Self.wrap(channel)
        }
        return (socket, channel, webSocket)
    }

    private static func wrap(_ channel: NIOAsyncTestingChannel) throws -> WebSocketChannel {
        try WebSocketChannel(wrapping: channel, generator: SharedGenerator(SplitMix64(seed: 1)))
    }

    @Test func framesArriveInOrderBeforeTheEnd() async throws {
        let (_, channel, webSocket) = try await Self.open()
        for number in 0..<5 { try await channel.writeInbound(Self.frame("\(number)")) }
        try await channel.close()
        for number in 0..<5 {
            let frame = try await webSocket.next()
            #expect(frame?.data == ByteBuffer(string: "\(number)"))
        }
        #expect(try await webSocket.next() == nil)
        #expect(try await webSocket.next() == nil)
    }

    /// The response to the upgrade, a frame, and the end can arrive together.
    @Test func connectionThatEndedDuringTheUpgradeEnds() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        let webSocket = try await channel.testingEventLoop.executeInContext {
            channel.close(promise: nil)
            let webSocket = try Self.wrap(channel)
            channel.pipeline.fireChannelRead(Self.frame("last"))
            return webSocket
        }
        await channel.testingEventLoop.run()
        #expect(try await webSocket.next()?.data == ByteBuffer(string: "last"))
        #expect(try await webSocket.next() == nil)
    }

    @Test func readerWaitsForFrame() async throws {
        let (_, channel, webSocket) = try await Self.open()
        async let frame = webSocket.next()
        try await channel.writeInbound(Self.frame("late"))
        #expect(try await frame?.data == ByteBuffer(string: "late"))
        await webSocket.close()
    }

    @Test func laggingReaderStopsReading() async throws {
        let (socket, channel, webSocket) = try await Self.open()
        for _ in 0..<10 { try await channel.writeInbound(Self.frame("x")) }
        let before = socket.reads
        channel.read()
        await channel.testingEventLoop.run()
        #expect(socket.reads == before)
        for _ in 0..<7 { _ = try await webSocket.next() }
        await channel.testingEventLoop.run()
        #expect(socket.reads == before)
        _ = try await webSocket.next()
        await channel.testingEventLoop.run()
        #expect(socket.reads == before + 1)
        await webSocket.close()
    }

    @Test func errorFollowsTheFrames() async throws {
        let (_, channel, webSocket) = try await Self.open()
        try await channel.writeInbound(Self.frame("x"))
        channel.pipeline.fireErrorCaught(Failure())
        await channel.testingEventLoop.run()
        #expect(try await webSocket.next() != nil)
        await #expect(throws: Failure.self) { try await webSocket.next() }
        await webSocket.close()
    }

    @Test func cancellationEndsTheReader() async throws {
        let (_, _, webSocket) = try await Self.open()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await #expect(throws: CancellationError.self) { try await webSocket.next() } }
            group.cancelAll()
        }
        await webSocket.close()
    }

    @Test func abortEndsTheReader() async throws {
        let (_, channel, webSocket) = try await Self.open()
        try await channel.writeInbound(Self.frame("x"))
        webSocket.abort()
        #expect(try await webSocket.next() != nil)
        await #expect(throws: ChannelError.self) { try await webSocket.next() }
        await webSocket.close()
    }

    @Test func waitingFramesAreBounded() async throws {
        let (socket, channel, webSocket) = try await Self.open()
        #expect(webSocket.enqueue(.text, ByteBuffer(string: "1"), limit: 2))
        #expect(webSocket.enqueue(.text, ByteBuffer(string: "2"), limit: 2))
        #expect(!webSocket.enqueue(.text, ByteBuffer(string: "3"), limit: 2))
        await channel.testingEventLoop.run()
        #expect(!webSocket.enqueue(.text, ByteBuffer(string: "3"), limit: 2))
        socket.takeWrites()
        await channel.testingEventLoop.run()
        #expect(webSocket.enqueue(.text, ByteBuffer(string: "3"), limit: 2))
        await channel.testingEventLoop.run()
        socket.takeWrites()
        await webSocket.close()
    }

    @Test func cancellationEndsTheWriter() async throws {
        let (socket, channel, webSocket) = try await Self.open()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // It returns when a closed socket gives up the frame, which this test does last.
                try? await webSocket.write(.text, ByteBuffer(string: "x"))
            }
            group.cancelAll()
            await #expect(throws: (any Error).self) { try await webSocket.next() }
            await webSocket.close()
            await channel.testingEventLoop.run()
            socket.takeWrites()
        }
    }

    @Test func finishClosesAfterTheCloseFrame() async throws {
        let (socket, channel, webSocket) = try await Self.open()
        webSocket.finish(.normalClosure)
        await channel.testingEventLoop.run()
        #expect(channel.isActive)
        socket.takeWrites()
        await channel.testingEventLoop.run()
        #expect(!channel.isActive)
        await #expect(throws: ChannelError.self) { try await webSocket.next() }
    }
}
