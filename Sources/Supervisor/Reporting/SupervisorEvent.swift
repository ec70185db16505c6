/// The end of a worker's process.
package enum WorkerExit: Hashable, Sendable, CustomStringConvertible {
    /// It exited with this status.
    case exited(Int32)
    /// It was terminated by this signal.
    case signaled(Int32)
    /// The process could not be started; the text gives the reason.
    case failedToStart(String)

    package var isSuccess: Bool { self == .exited(0) }

    package var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .signaled(let signal): "signal \(signal)"
        case .failedToStart(let reason): "failed to start: \(reason)"
        }
    }
}

/// The reason why a worker is restarted; the raw values are those of the label `reason` of
/// `bot_supervisor_restarts_total`.
package enum RestartReason: String, Hashable, Sendable {
    /// It exited, with any status.
    case exit
    case signal
    /// It could not be started.
    case start
    /// It did not answer a health check and was killed.
    case hang
    /// An operator requested it.
    case request
    /// It restarts together with a worker that failed.
    case together
}

/// Events for a supervisor's observer, in order of occurrence.
package enum SupervisorEvent: Hashable, Sendable {
    case started(worker: String, pid: Int32)
    /// The worker wrote `{"status":"ready"}`.
    case ready(worker: String)
    /// The worker wrote `{"status":"draining"}`.
    case draining(worker: String)
    /// A line `{"event":…}` of the worker, unchanged.
    case workerEvent(worker: String, line: String)
    /// The worker answered a health check.
    case alive(worker: String)
    /// The worker did not answer, and is killed.
    case hung(worker: String)
    case exited(worker: String, WorkerExit)
    case restarting(worker: String, after: Duration, RestartReason)
    /// The worker is no longer restarted automatically; the text gives the reason.
    case quarantined(worker: String, why: String)
    /// The worker ended as intended, was stopped by an operator, or was removed from the configuration.
    case stopped(worker: String)
}

extension SupervisorEvent {
    /// The worker that the event is about.
    package var worker: String {
        switch self {
        case .started(let worker, _), .ready(let worker), .draining(let worker), .workerEvent(let worker, _),
            .alive(let worker), .hung(let worker), .exited(let worker, _), .restarting(let worker, _, _),
            .quarantined(let worker, _), .stopped(let worker):
            worker
        }
    }
}
