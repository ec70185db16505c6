import PikaCore
import Synchronization

/// In-memory crash notes of a member's core, for its next run.
final class LabCrashNotes: CrashNotes {
    private struct State {
        var inFlight: [UInt8]?
        var quarantine: [UInt8]?
        var isStopped = false
    }

    private let state: Mutex<State>

    init() { self.state = Mutex(State()) }

    private init(_ state: State) { self.state = Mutex(state) }

    /// Returns the notes that the next run finds.
    func snapshot() -> LabCrashNotes {
        var state = self.state.withLock { $0 }
        state.isStopped = false
        return LabCrashNotes(state)
    }

    /// Marks the process that uses the notes as ended: later writes are discarded.
    func stop() { self.state.withLock { $0.isStopped = true } }

    func readInFlight() -> [UInt8]? { self.state.withLock { $0.inFlight } }
    func readQuarantine() -> [UInt8]? { self.state.withLock { $0.quarantine } }

    func writeInFlight(_ bytes: [UInt8]) -> Bool {
        self.state.withLock { if !$0.isStopped { $0.inFlight = bytes } }
        return true
    }

    func writeQuarantine(_ bytes: [UInt8]) -> Bool {
        self.state.withLock { if !$0.isStopped { $0.quarantine = bytes } }
        return true
    }
}
