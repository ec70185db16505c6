/// Which job is done when: one at a time in each lane, in order, and so many lanes at once. A lane is a chat or a
/// schedule. Pure.
struct ChatLanes {
    /// Lanes that may be at work at the same time.
    let width: Int
    /// Jobs beside which nothing else may run, but for what is outside.
    private let runsAlone: @Sendable (BotJob) -> Bool
    /// The lane of such a job, while it runs here.
    private var alone: String?
    /// The same, until it is done with. There is never a second one, lest it be blamed for what the first does when it
    /// comes back.
    private var unfinished: String?
    /// By lane, the next one first; a lane with a running job is in `running`.
    private var waiting: [String: [BotJob]] = [:]
    /// Lanes with something waiting and nothing running, the one that waits longest first.
    private var order: [String] = []
    private var running: Set<String> = []
    /// Those of them whose job waits for something outside.
    private var outside: Set<String> = []
    private(set) var isStopped = false

    init(width: Int, runsAlone: @escaping @Sendable (BotJob) -> Bool = { _ in false }) {
        self.width = max(1, width)
        self.runsAlone = runsAlone
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
        outside.remove(lane)
        if alone == lane { alone = nil }
        if unfinished == lane { unfinished = nil }
        if waiting[lane] != nil { order.append(lane) }
        return startable()
    }

    /// The job that runs in this lane waits for something outside from now on; the jobs to start now.
    mutating func leave(_ lane: String) -> [BotJob] {
        outside.insert(lane)
        if alone == lane { alone = nil }
        return startable()
    }

    /// It goes on, beside whatever runs by then.
    mutating func comeBack(_ lane: String) { outside.remove(lane) }

    /// Nothing is started any more; what waits comes again after a restart.
    mutating func stop() {
        isStopped = true
        waiting = [:]
        order = []
    }

    private mutating func startable() -> [BotJob] {
        var started: [BotJob] = []
        var index = 0
        while alone == nil, running.count < width, index < order.count {
            let lane = order[index]
            guard var queue = waiting[lane], !queue.isEmpty else {
                order.remove(at: index)
                continue
            }
            if runsAlone(queue[0]) {
                guard unfinished == nil else {
                    index += 1
                    continue
                }
                // What comes after it waits too, so that its turn comes.
                guard running.isSubset(of: outside) else { break }
                (alone, unfinished) = (lane, lane)
            }
            order.remove(at: index)
            started.append(queue.removeFirst())
            waiting[lane] = queue.isEmpty ? nil : queue
            running.insert(lane)
        }
        return started
    }
}
