package import ArgumentParser
import Telemetry

/// The end of a command as reported to the shell: help, wrong usage, or an error, whose text may contain untrusted
/// parts.
package struct CommandFailure {
    package let status: ExitCode
    /// The text without control characters; empty if everything was printed already.
    package let text: String

    package init(_ error: any Error, of root: (some ParsableCommand).Type) {
        status = root.exitCode(for: error)
        let message = root.fullMessage(for: error)
        // Only help and usage consist of several lines.
        text = status == .success || status == .validationFailure ? message.terminalText : message.terminalLine
    }
}
