import Foundation
import Synchronization
import Telemetry

/// Output for people and programs, unbuffered even into a pipe.
///
/// Everything is escaped (``Swift/String/terminalLine``), since most output contains untrusted text.
package enum Console {
    private static let lock = Mutex(())

    /// Prints one line.
    package static func print(_ line: String) { write(line.terminalLine + "\n", to: .standardOutput) }

    /// Does the same as ``print(_:)``, but throws when the reader has gone.
    package static func deliver(_ line: String) throws {
        let data = Data((line.terminalLine + "\n").utf8)
        try lock.withLock { _ in try FileHandle.standardOutput.write(contentsOf: data) }
    }

    /// Prints one line on standard error.
    package static func printError(_ line: String) { write(line.terminalLine + "\n", to: .standardError) }

    /// Prints several lines; untrusted text in them must be escaped already (``Swift/String/terminalLine``). Appends a
    /// line feed unless there is one.
    package static func printText(_ text: String) { write(text.terminalText.withLineEnd, to: .standardOutput) }

    /// Does the same as ``printText(_:)`` on standard error.
    package static func printErrorText(_ text: String) { write(text.terminalText.withLineEnd, to: .standardError) }

    /// Prints without escaping: for the program's own sequences that move the cursor or set colours.
    package static func printControl(_ text: String) { write(text, to: .standardOutput) }

    /// Does the same as ``printControl(_:)`` on standard error.
    package static func printErrorControl(_ text: String) { write(text, to: .standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // If the reader has gone, there is nothing to report the error to.
        lock.withLock { _ in try? handle.write(contentsOf: Data(text.utf8)) }
    }
}

extension String {
    fileprivate var withLineEnd: String { hasSuffix("\n") ? self : self + "\n" }
}
