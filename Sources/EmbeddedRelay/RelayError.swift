/// Why the relay could not be configured, started or queried.
package struct RelayError: Error, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// An environment variable or a configured value is invalid.
        package static let invalidConfiguration = Code(description: "invalidConfiguration")
        /// `run()` was called a second time.
        package static let alreadyRun = Code(description: "alreadyRun")
        /// The relay stopped or failed to start before it had an answer.
        package static let notListening = Code(description: "notListening")
        /// The address could not be bound.
        package static let bindFailed = Code(description: "bindFailed")
        /// The database could not be opened or migrated.
        package static let storageFailed = Code(description: "storageFailed")
    }

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String {
        guard let cause else { return "\(code): \(message)" }
        return "\(code): \(message) (\(cause))"
    }
}

extension RelayError: Equatable {
    /// Errors are equal when their codes are; the message is for people.
    package static func == (left: RelayError, right: RelayError) -> Bool {
        left.code == right.code
    }
}
