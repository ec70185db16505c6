import Synchronization

/// Tells when the threads that all tests share have nothing left to compute.
enum Idleness {
    /// Time in which an idle machine resumes a task, also one that is shared with other programs.
    private static let promptly: Duration = .milliseconds(100)
    /// Prompt resumptions in a row that count as idle. Each goes through the whole queue of tests that can run.
    private static let enough = 20
    /// Other programs may keep the cores so busy that no resumption is prompt.
    private static let longest: Duration = .seconds(240)

    private static let isOver = Mutex(false)

    /// Returns when the threads were idle once, or after four minutes.
    static func wait() async {
        if self.isOver.withLock({ $0 }) { return }
        let clock = ContinuousClock()
        let end = clock.now + self.longest
        var prompt = 0
        while prompt < self.enough, clock.now < end {
            let start = clock.now
            await Task.yield()
            prompt = clock.now - start < self.promptly ? prompt + 1 : 0
        }
        self.isOver.withLock { $0 = true }
    }
}
