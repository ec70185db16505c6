import PikaCore
import Synchronization

/// What a member's core notes for its next run, in memory.
final class LabCrashNotes: CrashNotes {
    private struct State {
        var inFlight: [UInt8]?
        var quarantine: [UInt8]?
        var isStopped = false
    }

    private let state: Mutex<State>

    init() { self.state = Mutex(State()) }

    private init(_ state: State) { self.state = Mutex(state) }

    /// What the next run finds.
    func snapshot() -> LabCrashNotes {
        var state = self.state.withLock { $0 }
        state.isStopped = false
        return LabCrashNotes(state)
    }

    /// The process that uses it has ended: what it writes from now on was never written.
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
