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

/// What a supervisor tells its observer, in the order in which it happened.
public enum SupervisorEvent: Hashable, Sendable {
    case started(worker: String, pid: Int32)
    /// The worker wrote `{"status":"ready"}`.
    case ready(worker: String)
    /// The worker wrote `{"status":"draining"}`.
    case draining(worker: String)
    /// A line `{"event":…}` of the worker, as it came.
    case workerEvent(worker: String, line: String)
    case exited(worker: String, WorkerExit)
    case restarting(worker: String, after: Duration)
    /// Too many failures, or one that another start would not mend: this worker is not started again.
    case quarantined(worker: String)
}
