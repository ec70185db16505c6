package import Errors

/// The reason why a source of a feed failed, or an item was not stored. The codes are values of the label `reason` of
/// `feed_errors_total`.
package struct FeedError: CodedError, Hashable {
    package typealias Code = ErrorCode<FeedError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ErrorCode where Failure == FeedError {
    /// No connection, a timeout, or a connection that broke off.
    package static var unreachable: Self { Self("unreachable") }
    /// A response or message that violates the protocol, or a status other than success.
    package static var badAnswer: Self { Self("bad_answer") }
    /// An item or a line is longer than its limit.
    package static var tooLarge: Self { Self("too_large") }
    /// The source ended: the server closed the connection, or the program exited.
    package static var ended: Self { Self("ended") }
    /// The program could not be started.
    package static var notStarted: Self { Self("not_started") }
    /// A file or folder cannot be read, moved or deleted.
    package static var files: Self { Self("files") }
    /// The webhook listener cannot use its address.
    package static var listener: Self { Self("listener") }
    /// Feeds fill their share of the inbox.
    package static var full: Self { Self("full") }
    /// A webhook request without a valid signature or token.
    package static var unauthorized: Self { Self("unauthorized") }
    /// A webhook request that is malformed, expired or too fast.
    package static var refused: Self { Self("refused") }
}
