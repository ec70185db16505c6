/// Error that keeps the transport from starting. Failures at a relay are not thrown: they are reasons in reports and
/// updates.
///
/// Two errors are equal when their codes are.
public struct TransportError: Error, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// A file of extra trust roots is missing or holds no certificate, or the TLS library refused its settings.
        public static let badTrustRoots = Code(description: "badTrustRoots")
        /// An unusable limit or duration.
        public static let badConfiguration = Code(description: "badConfiguration")
        /// `run()` was called a second time.
        public static let alreadyRun = Code(description: "alreadyRun")
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    public static func == (left: TransportError, right: TransportError) -> Bool { left.code == right.code }
}
