/// The order of jobs: one at a time in each lane, in order, and a limited number of lanes concurrently. A lane is a
/// chat, a feed or a schedule. Pure.
struct ChatLanes {
    /// The number of lanes that may run concurrently.
    let width: Int
    /// Selects jobs that must run alone. Only suspended jobs may be in progress beside them.
    private let isExclusive: @Sendable (BotJob) -> Bool
    /// The lane of the running exclusive job; nil while that job is suspended.
    private var exclusiveLane: String?
    /// The lane of such a job until it is finished. There is never a second one, since it could be blamed for a crash
    /// that the first one causes when it comes back.
    private var unfinishedExclusiveLane: String?
    /// Queued jobs by lane, in order. A lane with a running job is in `running`.
    private var waiting: [String: [BotJob]] = [:]
    /// Lanes with queued jobs but no running one, the longest waiting first.
    private var order: [String] = []
    private var running: Set<String> = []
    /// The running lanes whose job waits for an external program or service.
    private var suspended: Set<String> = []
    private(set) var isStopped = false

    init(width: Int, isExclusive: @escaping @Sendable (BotJob) -> Bool = { _ in false }) {
        self.width = max(1, width)
        self.isExclusive = isExclusive
    }

    var isDrained: Bool { isStopped && running.isEmpty }

    /// Enqueues a job; returns the jobs to start now: none or one.
    mutating func add(_ job: BotJob) -> [BotJob] {
        guard !isStopped else { return [] }
        let isFirst = waiting[job.lane] == nil
        waiting[job.lane, default: []].append(job)
        if isFirst, !running.contains(job.lane) { order.append(job.lane) }
        return startable()
    }

    /// Records that the job of this lane has finished; returns the jobs to start now.
    mutating func finish(_ lane: String) -> [BotJob] {
        running.remove(lane)
        suspended.remove(lane)
        if exclusiveLane == lane { exclusiveLane = nil }
        if unfinishedExclusiveLane == lane { unfinishedExclusiveLane = nil }
        if waiting[lane] != nil { order.append(lane) }
        return startable()
    }

    /// Records that this lane's running job waits for an external program or service; returns the jobs to start now.
    mutating func suspend(_ lane: String) -> [BotJob] {
        suspended.insert(lane)
        if exclusiveLane == lane { exclusiveLane = nil }
        return startable()
    }

    /// Records that the job continues, beside any jobs running by then.
    mutating func resume(_ lane: String) { suspended.remove(lane) }

    /// Starts no further jobs; queued ones are redelivered after a restart.
    mutating func stop() {
        isStopped = true
        waiting = [:]
        order = []
    }

    private mutating func startable() -> [BotJob] {
        var started: [BotJob] = []
        var index = 0
        while exclusiveLane == nil, running.count < width, index < order.count {
            let lane = order[index]
            guard var queue = waiting[lane], !queue.isEmpty else {
                order.remove(at: index)
                continue
            }
            if isExclusive(queue[0]) {
                guard unfinishedExclusiveLane == nil else {
                    index += 1
                    continue
                }
                // Later jobs wait too, so that this one is not starved.
                guard running.isSubset(of: suspended) else { break }
                (exclusiveLane, unfinishedExclusiveLane) = (lane, lane)
            }
            order.remove(at: index)
            started.append(queue.removeFirst())
            waiting[lane] = queue.isEmpty ? nil : queue
            running.insert(lane)
        }
        return started
    }
}
