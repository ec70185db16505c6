import PikaCore

/// What a pool of relays has said, to be waited for.
actor HeardUpdates {
    private struct Waiter {
        let matches: @Sendable (RelayUpdate) -> Bool
        let continuation: CheckedContinuation<RelayUpdate?, Never>
    }

    private var updates: [RelayUpdate] = []
    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0

    func add(_ update: RelayUpdate) {
        updates.append(update)
        for (number, waiter) in waiters where waiter.matches(update) { answer(number, update) }
    }

    /// The first that matches, of those that came and those that will; nil if there is none within `limit`, or when the
    /// task is cancelled.
    func first(
        within limit: Duration, where matches: @escaping @Sendable (RelayUpdate) -> Bool
    ) async -> RelayUpdate? {
        if let known = updates.first(where: matches) { return known }
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

    private func answer(_ number: Int, _ update: RelayUpdate?) {
        waiters.removeValue(forKey: number)?.continuation.resume(returning: update)
    }
}
