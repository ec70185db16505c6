import Foundation

/// Ensures that a worker does not outlive its supervisor, even if the worker hangs: it needs no queue, pool or lock of
/// the process.
package enum OrphanWatchdog {
    /// The time after the supervisor would have killed the worker.
    private static let grace = Duration.seconds(2)

    /// Exits the process if it still runs `drain` plus two seconds after the last writer of its standard input has
    /// closed it, even if unread input remains.
    package static func arm(drain: Duration) { arm(STDIN_FILENO, patience: drain + grace) }

    /// - Parameter descriptor: a pipe or a socket; other descriptors report no hangup.
    static func arm(_ descriptor: Int32, patience: Duration) {
        Thread.detachNewThread {
            guard waitForHangup(of: descriptor) else { return }
            Thread.sleep(forTimeInterval: patience / .seconds(1))
            // There is nothing left to report to, and `exit` would wait for whatever hangs.
            _exit(EXIT_FAILURE)
        }
    }

    /// Returns on a hangup; false if the descriptor cannot report one.
    private static func waitForHangup(of descriptor: Int32) -> Bool {
        while true {
            // Without requested events: poll always reports a hangup and errors.
            var entry = pollfd(fd: descriptor, events: 0, revents: 0)
            let count = poll(&entry, 1, -1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return false }
            return entry.revents & Int16(POLLNVAL) == 0
        }
    }
}
