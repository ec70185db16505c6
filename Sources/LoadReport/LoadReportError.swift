package import Errors

/// Error in a threshold or a stored result.
package struct LoadReportError: CausedError, Equatable {
    package typealias Code = ErrorCode<LoadReportError>

    package let code: Code
    /// Expectation, finding and fix.
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package static func == (left: LoadReportError, right: LoadReportError) -> Bool {
        left.code == right.code && left.message == right.message
    }
}

extension ErrorCode where Failure == LoadReportError {
    /// There is no measurement with this name.
    package static var unknownKey: Self { Self("unknown_key") }
    /// A condition without a comparison and a value.
    package static var badCondition: Self { Self("bad_condition") }
    /// The value has the wrong unit for its key.
    package static var wrongUnit: Self { Self("wrong_unit") }
    /// The result has another schema version.
    package static var unsupportedSchema: Self { Self("unsupported_schema") }
    /// The result does not match the schema.
    package static var malformedResult: Self { Self("malformed_result") }
}
