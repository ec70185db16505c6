import BotDispatch
import Synchronization

/// What a member's handlers have in hand, as its next run finds it.
final class LabHandPage: HandPage {
    private let state: Mutex<(bytes: [UInt8]?, isStopped: Bool)>

    init(_ bytes: [UInt8]?) {
        self.state = Mutex((bytes, false))
    }

    /// The process that uses it has ended: what it writes from now on was never written.
    func stop() { self.state.withLock { $0.isStopped = true } }

    func read() -> [UInt8]? { self.state.withLock { $0.bytes } }
    func write(_ bytes: [UInt8]) { self.state.withLock { if !$0.isStopped { $0.bytes = bytes } } }
}
