package import Errors

/// The reason why the relay could not be configured, started or queried.
package struct RelayError: CausedError, Equatable {
    package typealias Code = ErrorCode<RelayError>

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Errors are equal when their codes are; the message is for people.
    package static func == (left: RelayError, right: RelayError) -> Bool { left.code == right.code }
}

extension ErrorCode where Failure == RelayError {
    /// An environment variable or a configured value is invalid.
    package static var invalidConfiguration: Self { Self("invalidConfiguration") }
    /// `run()` was called a second time.
    package static var alreadyRun: Self { Self("alreadyRun") }
    /// The relay stopped or failed to start before it had an answer.
    package static var notListening: Self { Self("notListening") }
    /// The address could not be bound.
    package static var bindFailed: Self { Self("bindFailed") }
    /// The database could not be opened or migrated.
    package static var storageFailed: Self { Self("storageFailed") }
}
