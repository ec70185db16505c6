import Foundation

/// The lines of standard input.
enum StandardInput {
    /// May be called once. Reads on its own thread, because reading blocks; the thread ends with the input or the
    /// process.
    static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }
}
