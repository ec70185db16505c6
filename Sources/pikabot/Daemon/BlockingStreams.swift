import Daemon
import Dispatch
import Foundation

/// Descriptors that block: each has a thread of its own.
enum BlockingStreams {
    private static let longestLine = 16 << 20

    /// Hands the lines of a descriptor to `body`, one after the other: what the other side writes meanwhile waits in
    /// the pipe. Returns at the end of the input, or when the task is cancelled; then the thread ends with the input.
    static func read(_ descriptor: Int32, _ body: @escaping @Sendable (LineAssembler.Piece) async -> Void) async {
        let (pieces, continuation) = AsyncStream.makeStream(of: LineAssembler.Piece.self)
        let room = DispatchSemaphore(value: 1)
        Thread.detachNewThread {
            var assembler = LineAssembler(limit: longestLine)
            let handOver = { (piece: LineAssembler.Piece) in
                room.wait()
                continuation.yield(piece)
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                assembler.take(buffer[..<count], handOver)
            }
            assembler.finish(handOver)
            continuation.finish()
        }
        for await piece in pieces {
            await body(piece)
            room.signal()
        }
        // A reader that was left behind must not wait for ever.
        room.signal()
    }

    /// Writes what a client is told, until there is no more or the other side has gone.
    static func write(_ lines: LineQueue, to descriptor: Int32) async {
        signal(SIGPIPE, SIG_IGN)
        let queue = DispatchQueue(label: "pikabot.daemon.output")
        while let batch = await lines.next() {
            let bytes = Array((batch.joined(separator: "\n") + "\n").utf8)
            let isWritten = await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: write(bytes, to: descriptor)) }
            }
            guard isWritten else { return lines.close(dropping: true) }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
