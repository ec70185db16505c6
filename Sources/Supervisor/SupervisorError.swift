/// Error in starting or controlling workers.
package struct SupervisorError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure; compare with the static members.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// The specification or the supervisor's limits are invalid.
        package static let invalidConfiguration = Code(description: "invalidConfiguration")
        /// `run()` was called a second time.
        package static let alreadyRunning = Code(description: "alreadyRunning")
        /// Every worker is quarantined or gone: nothing is left to supervise.
        package static let noWorkersLeft = Code(description: "noWorkersLeft")
        /// No worker has this name.
        package static let unknownWorker = Code(description: "unknownWorker")
        /// The worker has no running process.
        package static let notRunning = Code(description: "notRunning")
        /// Too many questions are in flight, in total or to this worker.
        package static let tooManyAsks = Code(description: "tooManyAsks")
        /// The worker did not answer in time, or ended before it did.
        package static let noAnswer = Code(description: "noAnswer")
        /// The control socket could not be created.
        package static let noControlSocket = Code(description: "noControlSocket")
        /// The worker answered with an error; the message is the worker's.
        package static let refused = Code(description: "refused")
    }

    package let code: Code
    package let message: String
    /// With ``Code/noWorkersLeft``: the exit status of all workers, if they ended with the same one and restarting
    /// after it is useless.
    package let finalStatus: Int32?

    package init(_ code: Code, _ message: String, finalStatus: Int32? = nil) {
        self.code = code
        self.message = message
        self.finalStatus = finalStatus
    }

    package var description: String { "\(code): \(message)" }
}
