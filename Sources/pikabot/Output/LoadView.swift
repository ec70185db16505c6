import BotProgram
import Foundation
import LoadReport
import Synchronization
import Telemetry

/// Progress of a load test: a live table on a terminal, otherwise a line every few seconds.
final class LoadView: Sendable {
    /// Without a terminal, one line is printed per this number of calls.
    private static let callsPerLine = 5
    private static let width = 100

    private let isQuiet: Bool
    private let isTerminal = isatty(STDERR_FILENO) != 0
    private let state = Mutex((calls: 0, lines: 0))

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    /// - Parameter snapshot: Makes the snapshot, which takes some milliseconds.
    func show(_ stage: String, _ snapshot: () -> LoadSnapshot) {
        guard !isQuiet else { return }
        let (calls, previousLines) = state.withLock { state in
            state.calls += 1
            return state
        }
        guard isTerminal else {
            if calls % Self.callsPerLine == 1 { Console.printError("\(stage): \(LiveProgress.line(snapshot()))") }
            return
        }
        let lines = ["\(stage)"] + LiveProgress.table(snapshot(), width: Self.width)
        // Moves the cursor to the start of the previous table and clears everything below.
        let back = previousLines > 0 ? "\u{1B}[\(previousLines)A\u{1B}[J" : ""
        Console.printErrorControl(back + lines.map { $0.terminalLine + "\n" }.joined())
        state.withLock { $0.lines = lines.count }
    }
}
