/// How a worker's process ended.
public enum WorkerExit: Hashable, Sendable, CustomStringConvertible {
    /// It left with this status.
    case exited(Int32)
    /// This signal ended it.
    case signaled(Int32)
    /// There never was a process; the text says why.
    case failedToStart(String)

    public var isSuccess: Bool { self == .exited(0) }

    public var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .signaled(let signal): "signal \(signal)"
        case .failedToStart(let reason): "failed to start: \(reason)"
        }
    }
}

/// Why a worker is started again; the words are those of the label `reason` of `bot_supervisor_restarts_total`.
public enum RestartReason: String, Hashable, Sendable {
    /// It ended, with whatever status.
    case exit
    case signal
    /// It could not be started.
    case start
    /// It did not answer and was killed.
    case hang
    /// An operator asked for it.
    case request
    /// A worker failed whose fate it shares.
    case together
}

/// What a supervisor tells its observer, in the order in which it happened.
public enum SupervisorEvent: Hashable, Sendable {
    case started(worker: String, pid: Int32)
    /// The worker wrote `{"status":"ready"}`.
    case ready(worker: String)
    /// The worker wrote `{"status":"draining"}`.
    case draining(worker: String)
    /// A line `{"event":…}` of the worker, as it came.
    case workerEvent(worker: String, line: String)
    /// The worker answered the question for its health.
    case alive(worker: String)
    /// It did not, and is killed.
    case hung(worker: String)
    case exited(worker: String, WorkerExit)
    case restarting(worker: String, after: Duration, RestartReason)
    /// This worker is not started again by itself; the text says why.
    case quarantined(worker: String, why: String)
    /// It ended as it was meant to, or was stopped by an operator or because its account left the configuration.
    case stopped(worker: String)
}
