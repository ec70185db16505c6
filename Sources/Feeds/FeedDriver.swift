package import FeedRules

/// Reads one source and delivers its items, until it fails.
package protocol FeedDriver: Sendable {
    /// Runs until the source fails or ends, or the task is cancelled. Throws ``FeedError``, ``FeedPause`` or
    /// `CancellationError`.
    func run(_ outlet: FeedOutlet) async throws
}

/// A failure after which the source states when it may be asked again.
package struct FeedPause: Error, Sendable, Hashable {
    package let error: FeedError
    /// The shortest wait in milliseconds, at most an hour.
    package let milliseconds: Int64

    package init(_ error: FeedError, seconds: Int64) {
        self.error = error
        milliseconds = min(max(0, seconds), 3_600) * 1_000
    }
}
