/// An error of the telemetry endpoint.
public struct TelemetryError: Error, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The endpoint cannot bind its address.
        public static let bindFailed = Code(description: "bind_failed")
    }

    public let code: Code
    /// The problem and how to fix it.
    public let message: String
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    public static func == (left: TelemetryError, right: TelemetryError) -> Bool { left.code == right.code }
}
