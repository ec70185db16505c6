/// An error of one layer, with the error of a lower layer that caused it.
///
/// `Layer` has no values; it only distinguishes the errors of one layer and their codes from those of others.
package struct LayerError<Layer>: CausedError, Equatable {
    package typealias Code = ErrorCode<LayerError<Layer>>

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Errors are equal when their codes are; the message is for people.
    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
