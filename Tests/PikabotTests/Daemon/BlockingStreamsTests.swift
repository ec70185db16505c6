import Daemon
import Foundation
import LiveTesting
import Testing

@testable import pikabot

/// Reading from and writing to real pipes.
@Suite(.live) struct BlockingStreamsTests {
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(Foundation.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    private static let long = String(repeating: "x", count: 300_000)

    @Test func writesEverythingToReader() async throws {
        let (reading, writing) = try Self.pipe()
        let lines = LineQueue(limit: 1 << 20)
        await lines.put("one")
        await lines.put(Self.long)
        lines.close()
        let (read, result) = AsyncStream.makeStream(of: Data?.self)
        // At once, without waiting for a separate task.
        Thread.detachNewThread {
            result.yield(try? FileHandle(fileDescriptor: reading, closeOnDealloc: true).readToEnd())
            result.finish()
        }
        await BlockingStreams.write(lines, to: writing, patience: .seconds(60))
        close(writing)
        #expect(await read.first { _ in true } == Data("one\n\(Self.long)\n".utf8))
    }

    @Test func stalledReaderDoesNotBlockEnd() async throws {
        let (reading, writing) = try Self.pipe()
        defer {
            close(reading)
            close(writing)
        }
        let lines = LineQueue(limit: 1 << 20)
        await lines.put(Self.long)
        await lines.put("more")
        lines.close()
        await BlockingStreams.write(lines, to: writing, patience: .milliseconds(200))
        #expect(await lines.next() == nil)
    }

    @Test func closedReaderClosesQueue() async throws {
        let (reading, writing) = try Self.pipe()
        defer { close(writing) }
        close(reading)
        let lines = LineQueue(limit: 1 << 20)
        await lines.put("one")
        await BlockingStreams.write(lines, to: writing)
        #expect(lines.isClosed)
    }
}
