public import BotKit

extension LabMember {
    /// Delivers an item of a feed, as a source of the configuration would, and settles. Returns false if an item with
    /// this id was stored before; throws if the inbox refuses it.
    @discardableResult
    public func receive(_ item: FeedItem) async throws -> Bool {
        let core = self.core
        switch try await self.lab.run({ await core.receive(FeedDelivery(item)) }) {
        case .stored: return true
        case .duplicate: return false
        case .full, .refused, .closed:
            throw self.lab.error(.actionFailed, "\(self.name): the inbox refuses an item of \(item.feed)")
        }
    }
}
