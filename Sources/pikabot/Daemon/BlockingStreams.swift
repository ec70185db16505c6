import Daemon
import Dispatch
import Foundation
import ProcessSupport

/// Reads and writes blocking descriptors, each on its own thread.
enum BlockingStreams {
    /// Maximum length of a line of the daemon's clients.
    static let longestLine = 16 << 20

    /// Passes the lines of a descriptor to `body` one at a time; unread input stays in the pipe. Returns at the end of
    /// the input or when the task is cancelled; after a cancellation the thread ends with the input.
    static func read(
        _ descriptor: Int32, longestLine: Int = Self.longestLine,
        _ body: @escaping @Sendable (LineAssembler.Piece) async -> Void
    ) async {
        let (pieces, continuation) = AsyncStream.makeStream(of: LineAssembler.Piece.self)
        // Raised from zero: releasing a semaphore below its initial value traps, and an abandoned reader leaves it low.
        let room = DispatchSemaphore(value: 0)
        room.signal()
        Thread.detachNewThread {
            LineAssembler.readLines(of: descriptor, limit: longestLine) { piece in
                room.wait()
                continuation.yield(piece)
            }
            continuation.finish()
        }
        for await piece in pieces {
            await body(piece)
            room.signal()
        }
        // Unblock the reader thread if it was abandoned.
        room.signal()
    }

    /// Writes a client's lines until their end or until the other side has closed. Waits for a slow reader, but once
    /// the queue is closed no longer than `patience` since it last accepted a byte.
    static func write(_ lines: LineQueue, to descriptor: Int32, patience: Duration = .seconds(5)) async {
        signal(SIGPIPE, SIG_IGN)
        let queue = DispatchQueue(label: "pikabot.daemon.output")
        while let batch = await lines.next() {
            let bytes = Array((batch.joined(separator: "\n") + "\n").utf8)
            let isWritten = await withCheckedContinuation { continuation in
                queue.async {
                    continuation.resume(returning: write(bytes, to: descriptor, patience) { lines.isClosed })
                }
            }
            guard isWritten else { return lines.close(dropping: true) }
        }
    }

    private static func write(
        _ bytes: [UInt8], to descriptor: Int32, _ patience: Duration, isClosing: () -> Bool
    ) -> Bool {
        var rest = bytes[...]
        var waitsSince: ContinuousClock.Instant?
        while !rest.isEmpty {
            guard hasRoom(descriptor) else {
                guard isClosing() else { continue }
                let start = waitsSince ?? .now
                waitsSince = start
                if start.duration(to: .now) >= patience { return false }
                continue
            }
            // A writable pipe accepts this much without blocking (POSIX: PIPE_BUF; Linux: a page).
            let piece = rest.prefix(descriptorPiece)
            let count = piece.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
            waitsSince = nil
        }
        return true
    }

    #if os(Linux)
        private static let descriptorPiece = 4096
    #else
        private static let descriptorPiece = 512
    #endif

    /// Polls briefly; returns whether a write would succeed, or fail with an error, without blocking.
    private static func hasRoom(_ descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, 100) > 0
    }
}
