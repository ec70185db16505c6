package import BotKit
package import PikaCore

/// The inbox of an account, as a service for its bots.
package struct CoreInbox: BotInbox {
    private let core: AppCore

    package init(_ core: AppCore) {
        self.core = core
    }

    package func add(_ item: FeedItem) async throws(BotError) {
        switch await core.receive(FeedDelivery(item)) {
        case .stored, .duplicate: return
        case .full: throw BotError(.limitReached, "too many items of feeds wait for their handlers")
        case .refused: throw BotError(.requestFailed, "the item exceeds the limits of the inbox")
        case .closed: throw BotError(.storageFailed, "the account has ended")
        }
    }
}
