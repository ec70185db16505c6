import Synchronization

/// Sources of feeds that wait for the core's answer.
final class FeedAnswers: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<FeedReceipt, Never>] = [:]
        var lastNumber = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    func receive(_ delivery: FeedDelivery, _ mailbox: Mailbox) async -> FeedReceipt {
        await withCheckedContinuation { continuation in
            let number = self.state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                state.lastNumber += 1
                state.waiting[state.lastNumber] = continuation
                return state.lastNumber
            }
            if let number {
                mailbox.send(.feed(delivery, answer: number))
            } else {
                continuation.resume(returning: .closed)
            }
        }
    }

    func answer(_ number: Int, _ receipt: FeedReceipt) {
        self.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: receipt)
    }

    /// Answers all sources with ``FeedReceipt/closed``, because the core has ended.
    func close() {
        let waiting = self.state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: .closed) }
    }
}

extension AppCore {
    /// Stores an item of a feed in the inbox, once, and the source's position with it; returns when that is durable.
    /// Callers limit the number of items that they pass at the same time.
    package nonisolated func receive(_ delivery: FeedDelivery) async -> FeedReceipt {
        await self.feedAnswers.receive(delivery, self.mailbox)
    }

    /// Returns the stored position of a feed's source; nil if there is none.
    package nonisolated func position(ofFeed name: String) async throws -> [UInt8]? {
        try await self.store.value(scope: CoreModel.feedScope, key: name)
    }
}
