import Foundation
import Synchronization
import Telemetry

/// Output for people and programs, written at once even into a pipe.
///
/// Everything is escaped (``Swift/String/terminalLine``): most of it holds texts of others.
package enum Console {
    private static let lock = Mutex(())

    /// Prints one line.
    package static func print(_ line: String) { write(line.terminalLine + "\n", to: .standardOutput) }

    /// As ``print(_:)``; throws when nobody reads any more.
    package static func deliver(_ line: String) throws {
        let data = Data((line.terminalLine + "\n").utf8)
        try lock.withLock { _ in try FileHandle.standardOutput.write(contentsOf: data) }
    }

    /// Prints one line on standard error.
    package static func printError(_ line: String) { write(line.terminalLine + "\n", to: .standardError) }

    /// Prints several lines; texts of others in them must be ``Swift/String/terminalLine`` already. Adds a line end
    /// unless there is one.
    package static func printText(_ text: String) { write(text.terminalText.withLineEnd, to: .standardOutput) }

    /// As ``printText(_:)``, on standard error.
    package static func printErrorText(_ text: String) { write(text.terminalText.withLineEnd, to: .standardError) }

    /// Prints without escaping: for sequences of our own that move the cursor or set colours.
    package static func printControl(_ text: String) { write(text, to: .standardOutput) }

    /// As ``printControl(_:)``, on standard error.
    package static func printErrorControl(_ text: String) { write(text, to: .standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // Nobody is left to tell when the reader has gone.
        lock.withLock { _ in try? handle.write(contentsOf: Data(text.utf8)) }
    }
}

extension String {
    fileprivate var withLineEnd: String { hasSuffix("\n") ? self : self + "\n" }
}
