/// Why a load test cannot run.
package struct LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// The plan is not feasible.
        package static let badPlan = Code(description: "bad_plan")
        /// The folder for the agents' databases is not empty.
        package static let stateInUse = Code(description: "state_in_use")
        /// The relays are unusable: no agent could publish its key package.
        package static let noRelay = Code(description: "no_relay")
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
