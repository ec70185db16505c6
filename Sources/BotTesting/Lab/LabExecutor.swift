import Dispatch
import Synchronization

/// Runs all jobs of a lab on one thread, and only while the lab settles.
///
/// Because no job runs elsewhere, an empty queue means that all members wait: for the clock, a relay, or nothing.
final class LabExecutor: TaskExecutor {
    /// The queue of ready jobs, with the order in which they run.
    private struct State {
        var jobs: [UnownedJob] = []
        var first = 0
        /// Chooses the next job; nil to run jobs in the order in which they became ready.
        var shuffle: SeededGenerator?

        mutating func next() -> UnownedJob? {
            guard self.first < self.jobs.count else {
                self.jobs.removeAll(keepingCapacity: true)
                self.first = 0
                return nil
            }
            if var generator = self.shuffle {
                self.jobs.swapAt(self.first, Int.random(in: self.first..<self.jobs.count, using: &generator))
                self.shuffle = generator
            }
            self.first += 1
            return self.jobs[self.first - 1]
        }
    }

    private let state: Mutex<State>
    private let thread = DispatchQueue(label: "pikabot.lab")

    init(shuffle: SeededGenerator?) {
        self.state = Mutex(State(shuffle: shuffle))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.state.withLock { $0.jobs.append(job) }
    }

    /// Runs jobs until there are none, or `limit` have run; returns their number.
    func drain(limit: Int) async -> Int {
        await withCheckedContinuation { continuation in
            self.thread.async {
                var count = 0
                while count < limit, let job = self.state.withLock({ $0.next() }) {
                    job.runSynchronously(on: self.asUnownedTaskExecutor())
                    count += 1
                }
                continuation.resume(returning: count)
            }
        }
    }
}
