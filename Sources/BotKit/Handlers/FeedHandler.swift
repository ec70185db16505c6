/// Handles the items of a feed: events from outside the chats, such as a webhook's requests or a program's lines.
///
/// ```swift
/// OnFeed("orders") { item, context in
///     guard let text = item.text else { return }
///     context.send("New order: \(text)", to: kitchen)
/// }
/// ```
///
/// The configuration declares the feed under the account's `feeds:`. An item is stored before its source is answered,
/// and then handled as a message is: once, in one transaction with the handler's effects, and again if the process dies
/// before that. Items of one feed are handled one at a time, in order, beside chats and other feeds. A feed has no chat,
/// so the handler must name the chats that it sends to. `groups`, `triggers` and `limits` do not apply to feeds, because
/// their items have no author.
public struct OnFeed: HandlerDeclaration {
    /// The handler for the items.
    public let handler: Handler

    /// Creates a handler for the items of the feed with this name.
    ///
    /// - Parameters:
    ///   - name: the feed's name in the configuration.
    ///   - body: handles an item.
    public init(_ name: String, perform body: @escaping @Sendable (FeedItem, BotContext) async throws -> Void) {
        handler = Handler(label: "feed \(name)") { event, _ in
            guard case .feed(let item) = event.content, item.feed == name else { return nil }
            return { try await body(item, $0) }
        }
    }
}
