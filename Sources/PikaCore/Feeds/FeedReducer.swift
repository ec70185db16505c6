import Nostr

/// Items of feeds: stored in the inbox once, as events without a chat.
extension CoreModel {
    /// The scope of the sources' positions; no bot's name has this form.
    static let feedScope = "pikabot/feeds"

    /// Stores an item with the record of its id and the position of its source, in one transaction; the source is
    /// answered once that is durable.
    mutating func receive(_ delivery: FeedDelivery, answer: Int, _ step: inout CoreStep) {
        let receipt = self.inbox.receive(delivery.item, self.configuration.retention, &step)
        switch receipt {
        case .stored, .duplicate:
            if let position = delivery.position {
                step.changes.append(
                    .putValue(scope: Self.feedScope, key: delivery.item.feed, value: position))
            }
        case .full, .refused, .closed: break
        }
        step.effects.append(.answerFeed(answer, receipt))
    }
}

extension HandlerInbox {
    /// Appends an item unless it is a duplicate or feeds fill their share.
    mutating func receive(_ item: FeedItem, _ retention: RetentionPolicy, _ step: inout CoreStep) -> FeedReceipt {
        guard item.isWithinLimits else { return .refused }
        guard !self.feeds.contains(item) else { return .duplicate(item.eventID) }
        guard self.hasRoomForFeeds(retention) else { return .full }
        self.feeds.insert(item, &step)
        self.append(.feed(item), chatID: "", retention, &step)
        return .stored(item.eventID)
    }
}
