import BotDispatch
import Synchronization

/// In-memory journal of a member's in-flight jobs, for its next run.
final class LabInFlightStorage: InFlightStorage {
    private let state: Mutex<(bytes: [UInt8]?, isStopped: Bool)>

    init(_ bytes: [UInt8]?) {
        self.state = Mutex((bytes, false))
    }

    /// Marks the process that uses the journal as ended: later writes are discarded.
    func stop() { self.state.withLock { $0.isStopped = true } }

    func read() -> [UInt8]? { self.state.withLock { $0.bytes } }
    func write(_ bytes: [UInt8]) { self.state.withLock { if !$0.isStopped { $0.bytes = bytes } } }
}
