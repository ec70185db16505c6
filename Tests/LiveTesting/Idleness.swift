import Synchronization

/// Detects when the threads that all tests share are idle.
enum Idleness {
    /// The time in which an idle machine resumes a task, even beside other programs.
    private static let promptly: Duration = .milliseconds(100)
    /// Consecutive prompt resumptions that count as idle. Each passes through the whole queue of runnable tests.
    private static let enough = 20
    /// Other programs may keep the cores so busy that no resumption is prompt.
    private static let longest: Duration = .seconds(240)

    private static let isOver = Mutex(false)

    /// Returns when the threads have been idle once, or after four minutes.
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
