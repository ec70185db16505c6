/// An error with a code for programs and a message for people.
public protocol CodedError: Error, CustomStringConvertible {
    /// Kind of failure.
    var code: ErrorCode<Self> { get }
    /// The expected and the actual value, the place and the fix, for people; contains no secret.
    var message: String { get }
}

extension CodedError {
    /// The code and the message, such as `no_chat: the trigger has no chat`.
    public var description: String { "\(self.code): \(self.message)" }
}

/// A coded error that keeps the underlying error of a lower layer.
package protocol CausedError: CodedError {
    /// The underlying error, nil if there is none.
    var cause: (any Error)? { get }
}

extension CausedError {
    /// The code and the message, followed by the cause in parentheses.
    package var description: String { "\(self.code): \(self.message)" + (self.cause.map { " (\($0))" } ?? "") }
}
