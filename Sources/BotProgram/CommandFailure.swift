package import ArgumentParser
import Telemetry

/// The end of a command as the shell sees it: help, wrong usage, or an error whose text may hold words of others.
package struct CommandFailure {
    package let status: ExitCode
    /// Without control characters; empty if everything was said before.
    package let text: String

    package init(_ error: any Error, of root: (some ParsableCommand).Type) {
        status = root.exitCode(for: error)
        let message = root.fullMessage(for: error)
        // Only help and usage have lines of their own.
        text = status == .success || status == .validationFailure ? message.terminalText : message.terminalLine
    }
}
