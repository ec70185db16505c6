/// What went wrong in a lab: a fault that was asked for, or an expectation that did not hold.
public struct LabError: Error, Equatable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// A fault that the test itself put in.
        public static let injectedFault = Code(description: "injected_fault")
        /// The store belongs to a member that crashed.
        public static let stopped = Code(description: "stopped")
        /// The members keep each other busy without end.
        public static let neverSettles = Code(description: "never_settles")
        /// Something waits for an answer, or for time to pass, that the lab has not given yet.
        public static let stillWaiting = Code(description: "still_waiting")
        /// A member's core, or its bot, ended by itself.
        public static let memberFailed = Code(description: "member_failed")
        /// An action ended otherwise than the test says.
        public static let actionFailed = Code(description: "action_failed")
        /// An expectation did not hold.
        public static let unmet = Code(description: "unmet")
    }

    public let code: Code
    /// With the lab's seed, where there is one: it repeats the failure.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(self.code): \(self.message)" }

    public static func == (left: LabError, right: LabError) -> Bool { left.code == right.code }
}
