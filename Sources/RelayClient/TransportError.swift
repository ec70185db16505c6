package import Errors

/// Error that keeps the transport from starting. Failures at a relay are not thrown: they are reasons in reports and
/// updates.
///
/// Two errors are equal when their codes are.
package typealias TransportError = LayerError<TransportLayer>

/// Marks ``TransportError``.
package enum TransportLayer {}

extension ErrorCode where Failure == TransportError {
    /// A file of extra trust roots is missing or holds no certificate, or the TLS library refused its settings.
    package static var badTrustRoots: Self { Self("badTrustRoots") }
    /// An unusable limit or duration.
    package static var badConfiguration: Self { Self("badConfiguration") }
    /// `run()` was called a second time.
    package static var alreadyRun: Self { Self("alreadyRun") }
}
