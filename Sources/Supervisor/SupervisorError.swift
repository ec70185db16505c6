/// Error in starting or controlling workers.
public struct SupervisorError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The specification or the supervisor's limits are invalid.
        public static let invalidConfiguration = Code(description: "invalidConfiguration")
        /// `run()` was called a second time.
        public static let alreadyRunning = Code(description: "alreadyRunning")
        /// Every worker is quarantined or gone: nothing is left to supervise.
        public static let noWorkersLeft = Code(description: "noWorkersLeft")
        /// No worker has this name.
        public static let unknownWorker = Code(description: "unknownWorker")
        /// The worker has no running process.
        public static let notRunning = Code(description: "notRunning")
        /// Too many questions are in flight, in total or to this worker.
        public static let tooManyAsks = Code(description: "tooManyAsks")
        /// The worker did not answer in time, or ended before it did.
        public static let noAnswer = Code(description: "noAnswer")
        /// The control socket could not be created.
        public static let noControlSocket = Code(description: "noControlSocket")
        /// The worker answered with an error; the message is the worker's.
        public static let refused = Code(description: "refused")
    }

    public let code: Code
    public let message: String
    /// With ``Code/noWorkersLeft``: the exit status of all workers, if they ended with the same one and restarting
    /// after it is useless.
    public let finalStatus: Int32?

    public init(_ code: Code, _ message: String, finalStatus: Int32? = nil) {
        self.code = code
        self.message = message
        self.finalStatus = finalStatus
    }

    public var description: String { "\(code): \(message)" }
}
