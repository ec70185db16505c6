package import Errors

/// Error in starting or controlling workers.
package struct SupervisorError: CodedError, Hashable {
    /// The kind of failure; compare with the static members.
    package typealias Code = ErrorCode<SupervisorError>

    package let code: Code
    package let message: String
    /// With `Code.noWorkersLeft`: the exit status of all workers, if they ended with the same one and restarting
    /// after it is useless.
    package let finalStatus: Int32?

    package init(_ code: Code, _ message: String, finalStatus: Int32? = nil) {
        self.code = code
        self.message = message
        self.finalStatus = finalStatus
    }
}

extension ErrorCode where Failure == SupervisorError {
    /// The specification or the supervisor's limits are invalid.
    package static var invalidConfiguration: Self { Self("invalidConfiguration") }
    /// `run()` was called a second time.
    package static var alreadyRunning: Self { Self("alreadyRunning") }
    /// Every worker is quarantined or gone: nothing is left to supervise.
    package static var noWorkersLeft: Self { Self("noWorkersLeft") }
    /// No worker has this name.
    package static var unknownWorker: Self { Self("unknownWorker") }
    /// The worker has no running process.
    package static var notRunning: Self { Self("notRunning") }
    /// Too many questions are in flight, in total or to this worker.
    package static var tooManyAsks: Self { Self("tooManyAsks") }
    /// The worker did not answer in time, or ended before it did.
    package static var noAnswer: Self { Self("noAnswer") }
    /// The control socket could not be created.
    package static var noControlSocket: Self { Self("noControlSocket") }
    /// The worker answered with an error; the message is the worker's.
    package static var refused: Self { Self("refused") }
}
