import Logging

extension SupervisorEvent {
    /// Writes the event to the supervisor's log and to the worker's.
    func log(to logger: Logger, and log: WorkerLog) {
        switch self {
        case .started(let worker, let pid):
            logger.info("Worker started", metadata: ["worker.name": "\(worker)", "worker.pid": "\(pid)"])
            log.add("supervisor: started, process \(pid)", of: worker)
        case .ready(let worker):
            logger.info("Worker ready", metadata: ["worker.name": "\(worker)"])
            log.add("supervisor: ready", of: worker)
        case .draining(let worker): logger.debug("Worker draining", metadata: ["worker.name": "\(worker)"])
        case .alive, .workerEvent: break
        case .hung(let worker):
            logger.error("Worker does not answer; killing it", metadata: ["worker.name": "\(worker)"])
            log.add("supervisor: worker does not answer; killing it", of: worker)
        case .exited(let worker, let exit):
            logger.info("Worker ended", metadata: ["worker.name": "\(worker)", "worker.exit": "\(exit)"])
            log.add("supervisor: ended, \(exit)", of: worker)
        case .restarting(let worker, let wait, let reason):
            logger.info(
                "Worker restarts",
                metadata: [
                    "worker.name": "\(worker)", "restart.after": "\(wait)", "restart.reason": "\(reason.rawValue)",
                ])
            log.add("supervisor: restarts in \(wait)", of: worker)
        case .quarantined(let worker, let why):
            logger.error(
                "Worker quarantined; it needs a manual restart",
                metadata: ["worker.name": "\(worker)", "reason": "\(why)"])
            log.add("supervisor: quarantined: \(why)", of: worker)
        case .stopped(let worker):
            logger.info("Worker stopped", metadata: ["worker.name": "\(worker)"])
            log.add("supervisor: stopped", of: worker)
        }
    }
}
