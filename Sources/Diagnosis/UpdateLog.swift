/// Buffer of updates from a listening task, with which another task can wait for a match.
actor UpdateLog<Update: Sendable> {
    private struct Waiter {
        let matches: @Sendable (Update) -> Bool
        let continuation: CheckedContinuation<Update?, Never>
    }

    private(set) var updates: [Update] = []
    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0

    func add(_ update: Update) {
        updates.append(update)
        for (number, waiter) in waiters where waiter.matches(update) { answer(number, update) }
    }

    /// Returns the first match among past and future updates; nil on timeout or when the task is cancelled.
    ///
    /// - Parameter start: Number of past updates to skip.
    func first(
        from start: Int = 0, within limit: Duration, where matches: @escaping @Sendable (Update) -> Bool
    ) async -> Update? {
        if let known = updates.dropFirst(start).first(where: matches) { return known }
        lastNumber += 1
        let number = lastNumber
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await Task.sleep(for: limit)
                await self.answer(number, nil)
            }
            let update = await withCheckedContinuation { waiters[number] = Waiter(matches: matches, continuation: $0) }
            group.cancelAll()
            return update
        }
    }

    /// Waits as above, with a deadline.
    func first(
        from start: Int = 0, by deadline: ContinuousClock.Instant, where matches: @escaping @Sendable (Update) -> Bool
    ) async -> Update? {
        await first(from: start, within: max(.zero, deadline - .now), where: matches)
    }

    private func answer(_ number: Int, _ update: Update?) {
        waiters.removeValue(forKey: number)?.continuation.resume(returning: update)
    }
}
