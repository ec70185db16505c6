import BotDispatch
import Logging
import Storage
import Synchronization

/// What handlers have in hand, in the account's folder.
final class StoredHandPage: HandPage {
    private let page: CrashPage
    private let logger: Logger
    private let hasFailed = Atomic(false)

    init(_ page: CrashPage, logger: Logger) {
        self.page = page
        self.logger = logger
    }

    func read() -> [UInt8]? { page.read() }

    /// Bots work without it too: a failure is said once.
    func write(_ bytes: [UInt8]) {
        do { try page.write(bytes) } catch {
            guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
            logger.warning(
                "What handlers have in hand cannot be noted; an event that ends the process would come again and again",
                metadata: ["reason": "\(error)"])
        }
    }
}
