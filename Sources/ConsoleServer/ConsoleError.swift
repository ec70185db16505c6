package import Errors

/// Error of the console's server.
package struct ConsoleError: CodedError, Hashable {
    package typealias Code = ErrorCode<ConsoleError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ErrorCode where Failure == ConsoleError {
    /// The address needs TLS, or a proxy that adds it.
    package static var unprotected: Self { Self("unprotected") }
    /// The certificate or its key cannot be used.
    package static var certificate: Self { Self("certificate") }
    /// The address cannot be bound.
    package static var bindFailed: Self { Self("bindFailed") }
    /// The console is not running.
    package static var notRunning: Self { Self("notRunning") }
    /// An account, a worker or a file does not answer, with its reason.
    package static var unavailable: Self { Self("unavailable") }
}
