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
        /// No worker has this name.
        public static let unknownWorker = Code(description: "unknownWorker")
        /// The worker has no process now.
        public static let notRunning = Code(description: "notRunning")
        /// More questions are under way than the supervisor or the worker takes.
        public static let tooManyAsks = Code(description: "tooManyAsks")
        /// The worker did not answer in time, or ended before it did.
        public static let noAnswer = Code(description: "noAnswer")
        /// The control socket could not be made.
        public static let noControlSocket = Code(description: "noControlSocket")
        /// The worker answered with an error; the message is its own.
        public static let refused = Code(description: "refused")
    }

    public let code: Code
    public let message: String
    /// With ``Code/noWorkersLeft``: the exit status that all workers ended with, if it is one after which another start
    /// would not help.
    public let finalStatus: Int32?

    public init(_ code: Code, _ message: String, finalStatus: Int32? = nil) {
        self.code = code
        self.message = message
        self.finalStatus = finalStatus
    }

    public var description: String { "\(code): \(message)" }
}
