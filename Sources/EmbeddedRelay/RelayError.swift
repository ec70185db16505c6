/// Why the relay could not be configured, started or queried.
public struct RelayError: Error, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// An environment variable or a configured value is invalid.
        public static let invalidConfiguration = Code(description: "invalidConfiguration")
        /// `run()` was called a second time.
        public static let alreadyRun = Code(description: "alreadyRun")
        /// The relay stopped or failed to start before it had an answer.
        public static let notListening = Code(description: "notListening")
        /// The address could not be bound.
        public static let bindFailed = Code(description: "bindFailed")
        /// The database could not be opened or migrated.
        public static let storageFailed = Code(description: "storageFailed")
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String {
        guard let cause else { return "\(code): \(message)" }
        return "\(code): \(message) (\(cause))"
    }
}

extension RelayError: Equatable {
    /// Errors are equal when their codes are; the message is for people.
    public static func == (left: RelayError, right: RelayError) -> Bool {
        left.code == right.code
    }
}
