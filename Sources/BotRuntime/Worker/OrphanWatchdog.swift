import Foundation

/// Ensures that a worker does not outlive its supervisor, even if the worker hangs: it depends on no queue, thread
/// pool or lock of the process.
package enum OrphanWatchdog {
    /// Margin beyond the drain deadline, at which a supervisor would kill the worker.
    private static let grace = Duration.seconds(2)

    /// Exits the process if it still runs `drain` plus two seconds after the last writer of its standard input has
    /// closed it, even if unread input remains.
    package static func arm(drain: Duration) { arm(STDIN_FILENO, patience: drain + grace) }

    /// - Parameter descriptor: a pipe or a socket; other descriptors report no hangup.
    static func arm(_ descriptor: Int32, patience: Duration) {
        Thread.detachNewThread {
            guard waitForHangup(of: descriptor) else { return }
            Thread.sleep(forTimeInterval: patience / .seconds(1))
            // No supervisor is left to report to, and `exit` could block on the thread that hangs.
            _exit(EXIT_FAILURE)
        }
    }

    /// Blocks until a hangup and returns true; returns false if the descriptor cannot report one.
    private static func waitForHangup(of descriptor: Int32) -> Bool {
        while true {
            // No events are requested, because poll reports hangups and errors anyway.
            var entry = pollfd(fd: descriptor, events: 0, revents: 0)
            let count = poll(&entry, 1, -1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return false }
            return entry.revents & Int16(POLLNVAL) == 0
        }
    }
}
