/// What is remembered of a worker for those who look at it; nothing is decided by it.
struct WorkerRecord: Equatable {
    var pid: Int32?
    /// As time since the supervisor began, like all times here.
    var startedAt: Duration?
    var wasEverReady = false
    /// Restarts since it was configured.
    var restarts = 0
    var lastExit: WorkerExit?
    /// What the worker said of its own failure in this life.
    var lastWords: String?
    /// The last words of the life before: while it is started again and again they are the reason.
    var earlierWords: String?
    /// Why it is quarantined.
    var quarantine: String?
    /// What of a changed configuration it does not have before its next start.
    var needsRestart: [String] = []

    mutating func began() {
        pid = nil
        lastWords = nil
        quarantine = nil
        needsRestart = []
    }

    mutating func ended(_ exit: WorkerExit) {
        pid = nil
        startedAt = nil
        earlierWords = lastWords
        lastExit = exit
    }
}
