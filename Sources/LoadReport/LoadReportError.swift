/// Why a threshold or a stored result cannot be used.
public struct LoadReportError: Error, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// Nothing of this name is measured.
        public static let unknownKey = Code(description: "unknown_key")
        /// A condition is not a comparison and a value.
        public static let badCondition = Code(description: "bad_condition")
        /// The value's unit is not the one of what is compared.
        public static let wrongUnit = Code(description: "wrong_unit")
        /// The result was written in another version of the schema.
        public static let unsupportedSchema = Code(description: "unsupported_schema")
        /// The result is not what the schema describes.
        public static let malformedResult = Code(description: "malformed_result")
    }

    public let code: Code
    /// What was expected, what was found, and what to do.
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
