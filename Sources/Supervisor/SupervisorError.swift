/// What went wrong while starting or driving workers.
public struct SupervisorError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The specification or the supervisor's limits make no sense.
        public static let invalidConfiguration = Code(description: "invalidConfiguration")
        /// `run()` was called a second time.
        public static let alreadyRunning = Code(description: "alreadyRunning")
        /// Every worker is quarantined or gone: there is nothing left to supervise.
        public static let noWorkersLeft = Code(description: "noWorkersLeft")
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
