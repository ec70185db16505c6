/// Which job is done when: one at a time in each lane, in order, and so many lanes at once. A lane is a chat or a
/// schedule. Pure.
struct ChatLanes {
    /// Lanes that may be at work at the same time.
    let width: Int
    /// By lane, the next one first; a lane with a running job is in `running`.
    private var waiting: [String: [BotJob]] = [:]
    /// Lanes with something waiting and nothing running, the one that waits longest first.
    private var order: [String] = []
    private var running: Set<String> = []
    private(set) var isStopped = false

    init(width: Int) {
        self.width = max(1, width)
    }

    var isDrained: Bool { isStopped && running.isEmpty }

    /// The jobs to start now: none or one.
    mutating func add(_ job: BotJob) -> [BotJob] {
        guard !isStopped else { return [] }
        let isFirst = waiting[job.lane] == nil
        waiting[job.lane, default: []].append(job)
        if isFirst, !running.contains(job.lane) { order.append(job.lane) }
        return startable()
    }

    /// The job that ran in this lane is done with; the jobs to start now.
    mutating func finish(_ lane: String) -> [BotJob] {
        running.remove(lane)
        if waiting[lane] != nil { order.append(lane) }
        return startable()
    }

    /// Nothing is started any more; what waits comes again after a restart.
    mutating func stop() {
        isStopped = true
        waiting = [:]
        order = []
    }

    private mutating func startable() -> [BotJob] {
        var started: [BotJob] = []
        while running.count < width, !order.isEmpty {
            let lane = order.removeFirst()
            guard var queue = waiting.removeValue(forKey: lane), !queue.isEmpty else { continue }
            started.append(queue.removeFirst())
            if !queue.isEmpty { waiting[lane] = queue }
            running.insert(lane)
        }
        return started
    }
}
