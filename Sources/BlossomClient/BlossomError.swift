package import Errors

/// Error of a request to a media server.
package typealias BlossomError = LayerError<BlossomLayer>

/// Marks ``BlossomError``.
package enum BlossomLayer {}

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
