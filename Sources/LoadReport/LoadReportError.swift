/// Error in a threshold or a stored result.
package struct LoadReportError: Error, Equatable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// There is no measurement with this name.
        package static let unknownKey = Code(description: "unknown_key")
        /// A condition without a comparison and a value.
        package static let badCondition = Code(description: "bad_condition")
        /// The value has the wrong unit for its key.
        package static let wrongUnit = Code(description: "wrong_unit")
        /// The result has another schema version.
        package static let unsupportedSchema = Code(description: "unsupported_schema")
        /// The result does not match the schema.
        package static let malformedResult = Code(description: "malformed_result")
    }

    package let code: Code
    /// Expectation, finding and fix.
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    package static func == (left: LoadReportError, right: LoadReportError) -> Bool {
        left.code == right.code && left.message == right.message
    }
}
