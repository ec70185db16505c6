/// Error of a request to a media server.
package struct BlossomError: Error, Sendable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// No connection, a timeout, or a connection that broke off.
        package static let unreachable = Code(description: "unreachable")
        /// The configuration does not name the server, and its address is private or unknown.
        package static let notAllowed = Code(description: "not_allowed")
        /// A status other than success.
        package static let refused = Code(description: "refused")
        /// A response that violates the protocol.
        package static let badAnswer = Code(description: "bad_answer")
        /// More bytes than the limit.
        package static let tooLarge = Code(description: "too_large")
    }

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(self.code): \(self.message)" }
}

extension BlossomError: Equatable {
    /// Errors are equal when their codes are; the message is for people.
    package static func == (left: BlossomError, right: BlossomError) -> Bool { left.code == right.code }
}
