/// Why a load test cannot run.
public struct LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The plan asks for what cannot be done.
        public static let badPlan = Code(description: "bad_plan")
        /// Where the agents' databases are to be, there is something already.
        public static let stateInUse = Code(description: "state_in_use")
        /// Nothing can be done with the relays: no agent could announce itself.
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
