import Logging
import Metrics

/// The reason why an event is dropped instead of being delivered, or redelivered, to a program. The raw values are
/// labels of a metric.
package enum DeadLetter: String, Sendable, CaseIterable {
    /// The program failed on it, or did not consume it, too often.
    case programFailed = "program_failed"
    /// The backlog of a program that no longer runs is full.
    case programFull = "program_full"
    /// Its chat is gone, or the program no longer works in it.
    case chatWithdrawn = "chat_withdrawn"

    func count() {
        Counter(label: "bot_inbox_given_up_total", dimensions: [("reason", self.rawValue)]).increment()
    }

    /// Counts and logs an event that the program will not get, or not get again.
    ///
    /// - Parameter cursor: nil if the event was not recorded.
    func report(_ cursor: Int64?, to logger: Logger) {
        self.count()
        logger.error(
            "dropped an event: dead letter",
            metadata: ["reason": "\(self.rawValue)", "cursor": "\(cursor.map { String($0) } ?? "none")"])
    }
}
