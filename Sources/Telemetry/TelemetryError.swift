/// An error of the telemetry endpoint.
package struct TelemetryError: Error, Equatable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// The endpoint cannot bind its address.
        package static let bindFailed = Code(description: "bind_failed")
    }

    package let code: Code
    /// The problem and how to fix it.
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    package static func == (left: TelemetryError, right: TelemetryError) -> Bool { left.code == right.code }
}
