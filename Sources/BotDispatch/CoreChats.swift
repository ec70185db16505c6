package import BotKit
package import PikaCore

/// The chats of an account, as a service for its bots.
package struct CoreChats: BotChats {
    private let core: AppCore

    package init(_ core: AppCore) {
        self.core = core
    }

    package func recentMessages(in chatID: ChatID, limit: Int) async throws -> [RecentMessage] {
        try await core.messages(chatID: chatID, limit: limit).reversed().map { message in
            RecentMessage(
                id: message.id, sender: message.rumor.pubkey, isOwn: message.isOwn, kind: message.rumor.kind,
                content: message.rumor.content, createdAt: message.rumor.createdAt)
        }
    }

    package func showTyping(in chatID: ChatID) async { core.dispatch(.typingStarted(chatID: chatID)) }
}
