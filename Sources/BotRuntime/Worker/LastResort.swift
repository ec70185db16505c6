import Foundation

/// Sees to it that a worker does not outlive its supervisor, also one that hangs: no queue, pool or lock of the process
/// is needed for that.
package enum LastResort {
    /// From the time at which the supervisor would have killed the worker.
    private static let grace = Duration.seconds(2)

    /// Ends the process if it still runs `drain` and two seconds after the last writer of its standard input has gone,
    /// also when nobody has read what is in there.
    package static func arm(drain: Duration) { arm(STDIN_FILENO, patience: drain + grace) }

    /// - Parameter descriptor: a pipe or a socket; of others there is nothing to see.
    static func arm(_ descriptor: Int32, patience: Duration) {
        Thread.detachNewThread {
            guard waitForHangup(of: descriptor) else { return }
            Thread.sleep(forTimeInterval: patience / .seconds(1))
            // Nobody is left to tell, and `exit` would wait for whatever hangs.
            _exit(EXIT_FAILURE)
        }
    }

    /// False if that cannot be seen of this descriptor.
    private static func waitForHangup(of descriptor: Int32) -> Bool {
        while true {
            // Without events to wait for: a hangup and errors are told always.
            var entry = pollfd(fd: descriptor, events: 0, revents: 0)
            let count = poll(&entry, 1, -1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return false }
            return entry.revents & Int16(POLLNVAL) == 0
        }
    }
}
