/// History of a worker for status reports; does not affect decisions.
struct WorkerRecord: Equatable {
    var pid: Int32?
    /// Time since the supervisor started, like all times here.
    var startedAt: Duration?
    var wasEverReady = false
    /// Number of restarts since the worker was configured.
    var restarts = 0
    var lastExit: WorkerExit?
    /// The worker's last report of its own failure in this run.
    var lastFailure: String?
    /// The last report of the previous run: while the worker restarts repeatedly, it is the reason.
    var previousFailure: String?
    /// Reason of its quarantine.
    var quarantine: String?
    /// Configuration changes that apply only from its next start.
    var needsRestart: [String] = []

    mutating func began() {
        pid = nil
        lastFailure = nil
        quarantine = nil
        needsRestart = []
    }

    mutating func ended(_ exit: WorkerExit) {
        pid = nil
        startedAt = nil
        previousFailure = lastFailure
        lastExit = exit
    }
}
