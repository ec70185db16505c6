/// Why a load test cannot run.
public struct LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The plan is not feasible.
        public static let badPlan = Code(description: "bad_plan")
        /// The folder for the agents' databases is not empty.
        public static let stateInUse = Code(description: "state_in_use")
        /// The relays are unusable: no agent could publish its key package.
        public static let noRelay = Code(description: "no_relay")
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
