/// The durable inbox, for what a bot learns outside handlers: in a connection, an outbox or other background work.
///
/// ```swift
/// try context.services.connect(
///     "orders", BotConnectionRequest(url: "wss://shop.example/orders"),
///     BotConnectionHandlers { message in
///         guard case .text(let text) = message else { return }
///         try? await inbox.add(FeedItem(feed: "orders", id: text, payload: Array(text.utf8)))
///     })
/// ```
///
/// An item is handled by ``OnFeed`` with its feed's name, as that of a source of the configuration is: once, in one
/// transaction with the handler's effects, and again if the process dies before that.
public protocol BotInbox: Sendable {
    /// Stores an item once; it is on disk when the call returns. An id that the feed has had recently is ignored.
    ///
    /// Throws `BotError.Code.limitReached` while the inbox is full, `BotError.Code.requestFailed` for an item beyond the
    /// limits of `FeedItem`, and `BotError.Code.storageFailed` when the account has ended.
    func add(_ item: FeedItem) async throws(BotError)
}

extension NoBotServices: BotInbox {
    /// Throws `BotError.Code.storageFailed`.
    public func add(_ item: FeedItem) async throws(BotError) {
        throw BotError(.storageFailed, "the inbox is not available here")
    }
}
