package import Errors

/// The reason why a load test cannot run.
package struct LoadError: CodedError, Hashable {
    package typealias Code = ErrorCode<LoadError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

extension ErrorCode where Failure == LoadError {
    /// The plan is not feasible.
    package static var badPlan: Self { Self("bad_plan") }
    /// The folder for the agents' databases is not empty.
    package static var stateInUse: Self { Self("state_in_use") }
    /// The relays are unusable: no agent could publish its key package.
    package static var noRelay: Self { Self("no_relay") }
}
