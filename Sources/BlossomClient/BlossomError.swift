/// Why a media server did not do what it was asked.
public struct BlossomError: Error, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// No connection, no answer in time, or one that broke off.
        public static let unreachable = Code(description: "unreachable")
        /// Only others name the server, and it is at a private address or has none.
        public static let notAllowed = Code(description: "not_allowed")
        /// A status other than success.
        public static let refused = Code(description: "refused")
        /// An answer that the protocol does not know.
        public static let badAnswer = Code(description: "bad_answer")
        /// More bytes than were asked for.
        public static let tooLarge = Code(description: "too_large")
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(self.code): \(self.message)" }
}

extension BlossomError: Equatable {
    /// Errors are the same when their codes are; wording is for people.
    public static func == (left: BlossomError, right: BlossomError) -> Bool { left.code == right.code }
}
