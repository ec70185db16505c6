/// Status of one worker, for operators.
package struct WorkerStatus: Hashable, Sendable {
    package var name: String
    /// `starting`, `ready`, `stopping`, `waiting` (for its next start), `quarantined`, `finished` or `stopped`.
    package var state: String
    package var pid: Int32?
    /// The time that the process has run.
    package var age: Duration?
    /// Number of restarts since the worker was configured.
    package var restarts: Int
    package var lastExit: WorkerExit?
    /// Reason of the quarantine, or the worker's report of its last failure.
    package var reason: String?
    /// Configuration changes that apply only from its next start.
    package var needsRestart: [String]
    /// Whether it should be running: false for a worker that ended as intended and is not restarted automatically.
    package var isExpected: Bool
}

extension WorkerStatus {
    var json: ControlValue {
        .object([
            "name": .string(name), "state": .string(state), "pid": pid.map { .integer(Int64($0)) } ?? .null,
            "age": age.map { .integer(Int64($0 / .seconds(1))) } ?? .null, "restarts": .integer(Int64(restarts)),
            "lastExit": lastExit.map { .string($0.description) } ?? .null,
            "reason": reason.map { .string($0) } ?? .null,
            "needsRestart": .array(needsRestart.map { .string($0) }), "expected": .bool(isExpected),
        ])
    }
}

extension SupervisorStateMachine {
    /// Returns the status of all configured workers, in order.
    func status(now: Duration) -> [WorkerStatus] {
        order.map { index in
            let worker = workers[index]
            let record = worker.record
            return WorkerStatus(
                name: worker.specification.name, state: worker.state.name, pid: record.pid,
                age: record.startedAt.map { now - $0 }, restarts: record.restarts, lastExit: record.lastExit,
                reason: record.quarantine ?? record.lastFailure ?? record.previousFailure,
                needsRestart: record.needsRestart,
                // Ending because of a shutdown is not ending as intended.
                isExpected: isDraining || worker.state != .finished || record.lastExit?.isSuccess != true)
        }
    }
}

extension WorkerStateMachine.State {
    var name: String {
        switch self {
        case .idle, .spawning(stop: nil), .running(isReady: false): "starting"
        case .running: "ready"
        case .spawning, .stopping: "stopping"
        case .backingOff, .held: "waiting"
        case .quarantined: "quarantined"
        case .finished: "finished"
        case .stopped: "stopped"
        case .removed: "removed"
        }
    }
}
