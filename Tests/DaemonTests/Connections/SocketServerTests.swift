import BotTesting
import Foundation
import LiveTesting
import Logging
import PikaCore
import ServiceLifecycle
import Testing

@testable import Daemon

/// The real socket, in real time.
@Suite(.live) struct SocketServerTests {
    @Test func socketIsPrivateAndRemoved() throws {
        let path = NSTemporaryDirectory() + "daemon-\(UUID().uuidString.prefix(8)).sock"
        let descriptor = try SocketPath.bind(path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        close(descriptor)
        // The stale socket of an earlier daemon is replaced.
        close(try SocketPath.bind(path))
        #expect(SocketPath.removeUnlessLive(path))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func neverReplacesALiveSocket() throws {
        let path = NSTemporaryDirectory() + "daemon-\(UUID().uuidString.prefix(8)).sock"
        let live = try SocketPath.bind(path)
        defer { unlink(path) }
        // Refused while the server has room for clients, and while its backlog is full: nothing accepts connections
        // here.
        for _ in 0..<200 {
            let failure = #expect(throws: DaemonError.self) { try SocketPath.bind(path) }
            #expect(failure?.code == .noSocket)
        }
        #expect(!SocketPath.removeUnlessLive(path))
        #expect(FileManager.default.fileExists(atPath: path))
        close(live)
        close(try SocketPath.bind(path))
    }

    @Test func leavesOtherFilesAlone() throws {
        let path = NSTemporaryDirectory() + "daemon-\(UUID().uuidString.prefix(8)).sock"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let failure = #expect(throws: DaemonError.self) { try SocketPath.bind(path) }
        #expect(failure?.code == .noSocket)
        #expect(FileManager.default.contents(atPath: path) == Data("mine".utf8))
        let long = NSTemporaryDirectory() + String(repeating: "x", count: 200)
        #expect(throws: DaemonError.self) { try SocketPath.bind(long) }
    }

    @Test func servesManyClientsAndDropsSlowOnes() async throws {
        var limits = SocketServer.Limits()
        limits.clients = 20
        limits.lineBytes = 1000
        limits.outgoingBytes = 20_000
        limits.farewell = .milliseconds(200)
        let answers = try await Self.serving(limits, Self.exchange)
        #expect(answers.replies == 200)
        #expect(answers.tooLong.contains("parse_error") && answers.afterTooLong.contains(#""groups":[]"#))
        #expect(answers.oneTooMany.contains("too_many_clients"))
        #expect(answers.slowHasEnded)
    }

    @Test func halfClosedClientGetsItsReplies() async throws {
        let lines = try await Self.serving { path in
            let client = Connection(path)
            client.write(#"{"cmd":"list_groups","request_id":"1"}"# + "\n" + #"{"cmd":"list_groups","request_id":"2"}"#)
            client.endWriting()
            return (0..<3).map { _ in client.readLine() }
        }
        #expect(lines[0].contains(#""request_id":"1""#) && lines[1].contains(#""request_id":"2""#))
        #expect(lines[2].isEmpty, "the daemon must close the connection")
    }

    @Test func servesClientsThatHungUpEarly() async throws {
        let replies = try await Self.serving { path in
            let clients = (0..<60).map { number in
                let client = Connection(path)
                client.write(#"{"cmd":"list_groups","request_id":"\#(number)"}"# + "\n")
                client.endWriting()
                return client
            }
            return clients.map { $0.readLine() }
        }
        for (number, reply) in replies.enumerated() { #expect(reply.contains(#""request_id":"\#(number)""#)) }
    }

    @Test func connectionsDuringShutdownAreClosed() async throws {
        for _ in 0..<20 {
            let clients = try await Self.serving { path in
                // Connections keep arriving after the server has begun to shut down.
                let ends = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    var clients: [Connection] = []
                    for number in 0..<40 {
                        clients.append(Connection(path))
                        if number == 2 { ends.signal() }
                    }
                }
                ends.wait()
                return 1
            }
            #expect(clients == 1)
        }
    }

    /// Serves while `body` runs on a thread of its own, because its reads block.
    private static func serving<Result: Sendable>(
        _ limits: SocketServer.Limits = .init(), _ body: @escaping @Sendable (String) -> Result
    ) async throws -> Result {
        let path = NSTemporaryDirectory() + "daemon-\(UUID().uuidString.prefix(8)).sock"
        let network = LabNetwork(relays: [])
        var generator = SystemRandomNumberGenerator()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let core = AppCore(
            account: .generate(using: &generator), configuration: CoreConfiguration(relays: [], invites: .nobody),
            ports: CorePorts(
                transport: network.transport(name: "daemon"), store: MemoryCoreStore(), clock: SystemClock(),
                logger: logger))
        let standard = DaemonClient(.standard)
        let engine = DaemonEngine(
            core: core, settings: DaemonSettings(core: CoreConfiguration(relays: [])), standard: standard,
            clock: SystemClock(), logger: logger)
        let server = SocketServer(engine: engine, path: path, limits: limits, logger: logger)
        let result = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await core.run() }
            group.addTask { try await engine.run() }
            group.addTask { try await server.run() }
            group.addTask { while await standard.lines.next() != nil {} }
            try await eventually("the socket exists") { FileManager.default.fileExists(atPath: path) }
            let result = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: body(path)) }
            }
            group.cancelAll()
            while (try? await group.next()) != nil {}
            return result
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        return result
    }

    private struct Answers: Sendable {
        var replies = 0
        var tooLong = ""
        var afterTooLong = ""
        var oneTooMany = ""
        var slowHasEnded = false
    }

    private static func exchange(_ path: String) -> Answers {
        var answers = Answers()
        let clients = (0..<20).map { _ in Connection(path) }
        for round in 0..<10 {
            for client in clients { client.write(#"{"cmd":"list_groups","request_id":"\#(round)"}"# + "\n") }
            for client in clients where client.readLine().contains(#""request_id":"\#(round)""#) {
                answers.replies += 1
            }
        }
        answers.oneTooMany = Connection(path).readLine()
        clients[0].write(String(repeating: "x", count: 5000) + "\n" + #"{"cmd":"list_groups"}"# + "\n")
        answers.tooLong = clients[0].readLine()
        answers.afterTooLong = clients[0].readLine()
        // Sends commands and reads no reply.
        let question = #"{"cmd":"list_groups","request_id":"\#(String(repeating: "y", count: 800))"}"# + "\n"
        for _ in 0..<20_000 where !answers.slowHasEnded { answers.slowHasEnded = !clients[1].write(question) }
        return answers
    }

    private final class Connection {
        private let descriptor: Int32
        private var pending: [UInt8] = []

        init(_ path: String) {
            signal(SIGPIPE, SIG_IGN)
            self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(self.descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }

        deinit { close(self.descriptor) }

        func endWriting() { shutdown(self.descriptor, Int32(SHUT_WR)) }

        /// Returns false if the peer has closed the connection.
        @discardableResult
        func write(_ text: String) -> Bool {
            let bytes = Array(text.utf8)
            return send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }

        func readLine() -> String {
            while true {
                if let end = self.pending.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { self.pending.removeFirst(end + 1) }
                    return String(decoding: self.pending[..<end], as: UTF8.self)
                }
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = recv(self.descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return "" }
                self.pending += buffer.prefix(count)
            }
        }
    }
}
