package import BotKit
package import PikaCore

/// The chats of an account, as a service for its bots.
package struct CoreChats: BotChats {
    private let core: AppCore

    package init(_ core: AppCore) {
        self.core = core
    }

    package func recentMessages(
        in chatID: ChatID, before message: RecentMessage?, limit: Int
    ) async throws -> [RecentMessage] {
        let position = message.map { StoredMessage.Position(createdAt: $0.time, id: $0.id) }
        let messages = try await core.messages(chatID: chatID, before: position, limit: limit)
        let deliveries = try await core.deliveries(of: messages)
        return zip(messages, deliveries).reversed().map { message, delivery in
            RecentMessage(
                id: message.id, sender: message.rumor.pubkey, isOwn: message.isOwn, kind: message.rumor.kind,
                content: message.rumor.content, createdAt: message.rumor.createdAt, time: message.time,
                delivery: delivery)
        }
    }

    package func showTyping(in chatID: ChatID) async { core.dispatch(.typingStarted(chatID: chatID)) }
}
