import Foundation
import ServiceLifecycle

/// Runs until a descriptor comes to its end: for standard input, until the parent is gone or has closed it.
///
/// A thread of its own reads, since reading blocks; it ends with the input or the process. (libdispatch's read sources
/// on Linux crash when one is cancelled after its peer has hung up.)
struct EndOfInput: Service {
    var descriptor: Int32 = STDIN_FILENO

    func run() async {
        let (end, reached) = AsyncStream.makeStream(of: Never.self)
        let descriptor = descriptor
        Thread.detachNewThread {
            Self.readToEnd(descriptor)
            reached.finish()
        }
        await cancelWhenGracefulShutdown {
            for await _ in end {}
        }
    }

    /// What is read is nobody's order and is dropped.
    private static func readToEnd(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 || (count < 0 && errno == EINTR) else { return }
        }
    }
}
