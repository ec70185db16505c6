/// An error in a lab: an injected fault, or an unmet expectation.
public struct LabError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Kind of error, for tests that expect it.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name in snake case.
        public let description: String

        /// A fault that the test injected.
        public static let injectedFault = Code(description: "injected_fault")
        /// The store belongs to a member that crashed.
        public static let stopped = Code(description: "stopped")
        /// The members keep each other busy endlessly.
        public static let neverSettles = Code(description: "never_settles")
        /// A task waits for an answer, or for time to pass, that the lab has not provided.
        public static let stillWaiting = Code(description: "still_waiting")
        /// A member's core or bot ended unexpectedly.
        public static let memberFailed = Code(description: "member_failed")
        /// An action ended with an unexpected outcome.
        public static let actionFailed = Code(description: "action_failed")
        /// An expectation did not hold.
        public static let unmet = Code(description: "unmet")
    }

    /// Kind of error; the only part that `==` compares.
    public let code: Code
    /// Includes the lab's seed, if there is one, to reproduce the failure.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message, as `code: message`.
    public var description: String { "\(self.code): \(self.message)" }

    /// Compares the codes only.
    public static func == (left: LabError, right: LabError) -> Bool { left.code == right.code }
}
