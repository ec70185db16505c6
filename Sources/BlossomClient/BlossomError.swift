package import Errors

/// Error of a request to a media server.
package struct BlossomError: CodedError, Equatable {
    package typealias Code = ErrorCode<BlossomError>

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Errors are equal when their codes are; the message is for people.
    package static func == (left: BlossomError, right: BlossomError) -> Bool { left.code == right.code }
}

extension ErrorCode where Failure == BlossomError {
    /// No connection, a timeout, or a connection that broke off.
    package static var unreachable: Self { Self("unreachable") }
    /// The configuration does not name the server, and its address is private or unknown.
    package static var notAllowed: Self { Self("not_allowed") }
    /// A status other than success.
    package static var refused: Self { Self("refused") }
    /// A response that violates the protocol.
    package static var badAnswer: Self { Self("bad_answer") }
    /// More bytes than the limit.
    package static var tooLarge: Self { Self("too_large") }
}
