import BotKit
import Foundation

/// What background work tells a chat: an item of the bot's own feed, so that it is sent once.
struct Notice: Hashable, Sendable, Codable {
    enum Content: Hashable, Sendable, Codable {
        /// `people` are mentioned, hex keys; `everyone` mentions all members.
        case text(String, people: [String], everyone: Bool)
        /// The progress of a session; a small change is shown only where messages can be edited.
        case progress(session: String, String, isSmall: Bool)
        /// The end of a session, which a reaction rates.
        case ended(session: String, String, people: [String])
        /// A picture of an appliance's camera.
        case snapshot(appliance: String, file: String)
        /// The picture of a recipe.
        case picture(recipe: String)
        /// The answer to a search that had to wait for the recipes.
        case recipes(query: String)
    }

    /// The feeds of the bot. Pictures have one of their own, because an appliance may be slow.
    static let feed = "epicura"
    static let slowFeed = "epicura-pictures"

    /// The same whenever the same thing is told again.
    let id: String
    let chat: String
    let content: Content

    /// The item for the inbox.
    ///
    /// - Parameter bot: The bot's label: other bots of the account ignore the item.
    func item(of bot: String) throws(BotError) -> FeedItem {
        guard let payload = try? JSONEncoder().encode(self) else {
            throw BotError(.requestFailed, "the notice cannot be expressed as JSON")
        }
        return FeedItem(feed: isSlow ? Self.slowFeed : Self.feed, id: id, payload: Array(payload), name: bot)
    }

    private var isSlow: Bool {
        switch content {
        case .snapshot, .picture, .recipes: true
        case .text, .progress, .ended: false
        }
    }

    /// Reads an item of this bot; nil for those of others.
    init?(_ item: FeedItem, of bot: String) {
        guard item.name == bot, let notice = try? JSONDecoder().decode(Notice.self, from: Data(item.payload)) else {
            return nil
        }
        self = notice
    }

    init(id: String, chat: String, _ content: Content) {
        self.id = id
        self.chat = chat
        self.content = content
    }
}
