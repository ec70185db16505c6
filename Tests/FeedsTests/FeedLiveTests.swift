import AsyncHTTPClient
import Foundation
import LiveTesting
import NIOCore
import NIOHTTP1
import PikaCore
import Testing

@testable import FeedRules
@testable import Feeds

/// Drivers with real files, processes and sockets.
@Suite(.live)
struct FeedLiveTests {
    @Test func readsAndMovesFiles() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "feed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("one".utf8).write(to: folder.appending(path: "a.txt"))
        try Data(repeating: 1, count: 65).write(to: folder.appending(path: "large"))
        let settings = DirectorySettings(path: folder.path, every: .milliseconds(20))
        let bench = FeedBench(.directory(settings), sink: FakeSink(), clock: SystemClock())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await DirectoryDriver(settings).run(bench.outlet) }
            try await eventually("the file is stored and moved") {
                FileManager.default.fileExists(atPath: folder.appending(path: "done/a.txt").path)
                    && FileManager.default.fileExists(atPath: folder.appending(path: "failed/large").path)
            }
            group.cancelAll()
        }
        #expect(bench.sink.texts == ["one"] && bench.sink.items.first?.name == "a.txt")
        #expect(bench.status.errors == 1)
    }

    @Test func missingFolderIsFailure() async {
        let settings = DirectorySettings(path: "/nowhere/at/all")
        let bench = FeedBench(.directory(settings), sink: FakeSink(), clock: SystemClock())
        await #expect(throws: FeedError.self) { try await DirectoryDriver(settings).run(bench.outlet) }
    }

    @Test func readsLinesOfProgram() async throws {
        let script = "printf 'one\\r\\n\\ntwo\\n'; head -c 100 /dev/zero; printf '\\nlast'; exit 3"
        let settings = ProgramSettings(
            command: ["/bin/sh", "-c", script], directory: "/", environment: ["PATH": "/usr/bin:/bin"])
        let bench = FeedBench(.program(settings), sink: FakeSink(), clock: SystemClock())
        let error = await #expect(throws: FeedError.self) { try await ProgramDriver(settings).run(bench.outlet) }
        #expect(error?.code == .ended && error?.message.hasSuffix("status 3") == true)
        #expect(bench.sink.texts == ["one", "two", "last"])
        #expect(Set(bench.sink.items.map(\.id)).count == 3 && bench.status.errors == 1)
    }

    @Test func missingProgramIsFailure() async {
        let settings = ProgramSettings(command: ["/no/such/program"], directory: "/", environment: [:])
        let bench = FeedBench(.program(settings), sink: FakeSink(), clock: SystemClock())
        let error = await #expect(throws: FeedError.self) { try await ProgramDriver(settings).run(bench.outlet) }
        #expect(error?.code == .notStarted)
    }

    @Test func servesWebhooks() async throws {
        let token = "0123456789abcdef"
        let settings = WebhookSettings(authentication: .bearer(try #require(WebhookToken(token))))
        let bench = FeedBench(.webhook(settings), sink: FakeSink(), clock: SystemClock())
        let gate = WebhookGate(settings, outlet: bench.outlet)
        let port = Int.random(in: 20_000..<30_000)
        let server = WebhookServer(
            WebhookAddress(host: "127.0.0.1", port: port), gates: ["orders": gate], clock: SystemClock(),
            logger: silentLogger)
        func post(_ path: String, _ body: [UInt8], token: String, method: HTTPMethod = .POST) async throws -> UInt {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
            request.method = method
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            request.headers.add(name: "webhook-id", value: "order-1")
            request.body = .bytes(ByteBuffer(bytes: body))
            return try await HTTPClient.shared.execute(request, timeout: .seconds(10)).status.code
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { bench.monitor.enter(.connected, "orders") } }
            try await eventually("the listener runs") { bench.status.state == .connected }
            let large = [UInt8](repeating: 1, count: 65)
            let statuses = [
                try await post("/feeds/orders", [0x61], token: token),
                try await post("/feeds/orders", [0x61], token: token),
                try await post("/feeds/orders", [0x61], token: "wrong"),
                try await post("/feeds/other", [0x61], token: token),
                try await post("/feeds/orders", [0x61], token: token, method: .PUT),
                try await post("/feeds/orders", large, token: token),
            ]
            #expect(statuses == [202, 200, 401, 404, 405, 413])
            group.cancelAll()
        }
        #expect(bench.sink.texts == ["a"])
    }
}
