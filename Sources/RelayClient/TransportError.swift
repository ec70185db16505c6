/// Error that keeps the transport from starting. Failures at a relay are not thrown: they are reasons in reports and
/// updates.
///
/// Two errors are equal when their codes are.
package struct TransportError: Error, Equatable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// A file of extra trust roots is missing or holds no certificate, or the TLS library refused its settings.
        package static let badTrustRoots = Code(description: "badTrustRoots")
        /// An unusable limit or duration.
        package static let badConfiguration = Code(description: "badConfiguration")
        /// `run()` was called a second time.
        package static let alreadyRun = Code(description: "alreadyRun")
    }

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    package static func == (left: TransportError, right: TransportError) -> Bool { left.code == right.code }
}
