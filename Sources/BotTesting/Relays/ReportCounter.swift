import PikaCore
import Synchronization

/// Finishes a stream of reports after the last expected one.
final class ReportCounter: Sendable {
    private let missing: Mutex<Int>
    private let continuation: AsyncStream<PublishReport>.Continuation

    init(expected: Int, _ continuation: AsyncStream<PublishReport>.Continuation) {
        self.missing = Mutex(expected)
        self.continuation = continuation
        if expected == 0 { continuation.finish() }
    }

    func report(_ report: PublishReport) {
        self.continuation.yield(report)
        let isLast = self.missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { self.continuation.finish() }
    }
}
