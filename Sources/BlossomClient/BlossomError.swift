/// Error of a request to a media server.
public struct BlossomError: Error, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// No connection, a timeout, or a connection that broke off.
        public static let unreachable = Code(description: "unreachable")
        /// The configuration does not name the server, and its address is private or unknown.
        public static let notAllowed = Code(description: "not_allowed")
        /// A status other than success.
        public static let refused = Code(description: "refused")
        /// A response that violates the protocol.
        public static let badAnswer = Code(description: "bad_answer")
        /// More bytes than the limit.
        public static let tooLarge = Code(description: "too_large")
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(self.code): \(self.message)" }
}

extension BlossomError: Equatable {
    /// Errors are equal when their codes are; the message is for people.
    public static func == (left: BlossomError, right: BlossomError) -> Bool { left.code == right.code }
}
