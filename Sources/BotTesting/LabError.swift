public import Errors

/// An error in a lab: an injected fault, or an unmet expectation.
public struct LabError: CodedError, Equatable {
    /// Kind of error, for tests that expect it.
    public typealias Code = ErrorCode<LabError>

    /// Kind of error; the only part that `==` compares.
    public let code: Code
    /// Includes the lab's seed, if there is one, to reproduce the failure.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Compares the codes only.
    public static func == (left: LabError, right: LabError) -> Bool { left.code == right.code }
}

extension ErrorCode where Failure == LabError {
    /// A fault that the test injected.
    public static var injectedFault: Self { Self("injected_fault") }
    /// The store belongs to a member that crashed.
    public static var stopped: Self { Self("stopped") }
    /// The members keep each other busy endlessly.
    public static var neverSettles: Self { Self("never_settles") }
    /// A task waits for an answer, or for time to pass, that the lab has not provided.
    public static var stillWaiting: Self { Self("still_waiting") }
    /// A member's core or bot ended unexpectedly.
    public static var memberFailed: Self { Self("member_failed") }
    /// An action ended with an unexpected outcome.
    public static var actionFailed: Self { Self("action_failed") }
    /// An expectation did not hold.
    public static var unmet: Self { Self("unmet") }
}
