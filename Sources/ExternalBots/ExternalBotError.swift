package import Errors

/// The reason why an external bot could not be created.
package struct ExternalBotError: CodedError, Hashable {
    package typealias Code = ErrorCode<ExternalBotError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ErrorCode where Failure == ExternalBotError {
    /// A program was requested by `use:`, but is configured by `command:`.
    package static var notIncluded: Self { Self("not_included") }
}
