import BotDispatch
import Logging
import Storage
import Synchronization

/// The crash journal of in-flight jobs, in the account's folder.
final class StoredInFlightStorage: InFlightStorage {
    private let page: JournalPage
    private let logger: Logger
    private let hasFailed = Atomic(false)

    init(_ page: JournalPage, logger: Logger) {
        self.page = page
        self.logger = logger
    }

    func read() -> [UInt8]? { page.read() }

    /// Writes the journal. Bots work without it, so a failure is only logged, once.
    func write(_ bytes: [UInt8]) {
        do { try page.write(bytes) } catch {
            guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
            logger.warning(
                "In-flight handler jobs cannot be recorded; an event that crashes the process would be retried forever",
                metadata: ["reason": "\(error)"])
        }
    }
}
