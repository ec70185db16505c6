package import Errors

/// An error of the telemetry endpoint.
package struct TelemetryError: CausedError, Equatable {
    package typealias Code = ErrorCode<TelemetryError>

    package let code: Code
    /// The problem and how to fix it.
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package static func == (left: TelemetryError, right: TelemetryError) -> Bool { left.code == right.code }
}

extension ErrorCode where Failure == TelemetryError {
    /// The endpoint cannot bind its address.
    package static var bindFailed: Self { Self("bind_failed") }
}
