import PikaCore
import Synchronization

/// Forwards the reports of one publish, and ends their sequence after the last one.
final class PublishTally: Sendable {
    private let missing: Mutex<Int>
    private let reports: AsyncStream<PublishReport>.Continuation

    init(_ count: Int, _ reports: AsyncStream<PublishReport>.Continuation) {
        missing = Mutex(count)
        self.reports = reports
        if count == 0 { reports.finish() }
    }

    func count(_ report: PublishReport) {
        reports.yield(report)
        let left = missing.withLock { missing in
            missing -= 1
            return missing
        }
        if left == 0 { reports.finish() }
    }
}
