/// Error in a threshold or a stored result.
public struct LoadReportError: Error, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// There is no measurement with this name.
        public static let unknownKey = Code(description: "unknown_key")
        /// A condition without a comparison and a value.
        public static let badCondition = Code(description: "bad_condition")
        /// The value has the wrong unit for its key.
        public static let wrongUnit = Code(description: "wrong_unit")
        /// The result has another schema version.
        public static let unsupportedSchema = Code(description: "unsupported_schema")
        /// The result does not match the schema.
        public static let malformedResult = Code(description: "malformed_result")
    }

    public let code: Code
    /// Expectation, finding and fix.
    public let message: String
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    public static func == (left: LoadReportError, right: LoadReportError) -> Bool {
        left.code == right.code && left.message == right.message
    }
}
