public import BotKit

extension LabMember {
    /// Delivers an item of a feed, as a source of the configuration would, and settles. Returns false if an item with
    /// this id was stored before; throws if the inbox refuses it.
    @discardableResult
    public func receive(_ item: FeedItem) async throws -> Bool {
        let core = self.core
        async let receipt = core.receive(FeedDelivery(item))
        try await self.lab.settle()
        let isNew: Bool
        switch await receipt {
        case .stored: isNew = true
        case .duplicate: isNew = false
        case .full, .refused, .closed:
            throw self.lab.error(.actionFailed, "\(self.name): the inbox refuses an item of \(item.feed)")
        }
        try await self.lab.settle()
        return isNew
    }
}
