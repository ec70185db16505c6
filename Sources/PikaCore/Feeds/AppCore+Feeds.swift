extension AppCore {
    /// Stores an item of a feed in the inbox, once, and the source's position with it; returns when that is durable.
    /// Callers limit the number of items that they pass at the same time.
    package nonisolated func receive(_ delivery: FeedDelivery) async -> FeedReceipt {
        await self.feedAnswers.ask(self.mailbox) { .feed(delivery, answer: $0) } ?? .closed
    }

    /// Returns the stored position of a feed's source; nil if there is none.
    package nonisolated func position(ofFeed name: String) async throws -> [UInt8]? {
        try await self.store.value(scope: CoreModel.feedScope, key: name)
    }
}
