package import Errors

/// Error that keeps the transport from starting. Failures at a relay are not thrown: they are reasons in reports and
/// updates.
///
/// Two errors are equal when their codes are.
package struct TransportError: CausedError, Equatable {
    package typealias Code = ErrorCode<TransportError>

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package static func == (left: TransportError, right: TransportError) -> Bool { left.code == right.code }
}

extension ErrorCode where Failure == TransportError {
    /// A file of extra trust roots is missing or holds no certificate, or the TLS library refused its settings.
    package static var badTrustRoots: Self { Self("badTrustRoots") }
    /// An unusable limit or duration.
    package static var badConfiguration: Self { Self("badConfiguration") }
    /// `run()` was called a second time.
    package static var alreadyRun: Self { Self("alreadyRun") }
}
