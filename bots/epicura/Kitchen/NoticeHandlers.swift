import Appliance
import BotKit

/// Sends what background work tells the chats.
enum NoticeHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        OnFeed(Notice.feed) { item, context in
            guard let notice = Notice(item, of: context.bot) else { return }
            try await send(notice, context)
        }
        OnFeed(Notice.slowFeed) { item, context in
            guard let notice = Notice(item, of: context.bot) else { return }
            let kitchen = try await Kitchen.of(context, settings)
            try await sendSlow(notice, kitchen, context)
        }
        OnOutcome { outcome, context in
            try await ProgressMessage.received(outcome, settings, context)
        }
    }

    private static func send(_ notice: Notice, _ context: BotContext) async throws {
        let chat = ChatID(rawValue: notice.chat)
        switch notice.content {
        case .text(let text, let people, let everyone):
            send(text, people, everyone: everyone, to: chat, context)
        case .progress(let session, let text, let isSmall):
            try await ProgressMessage.show(text, of: session, isSmall: isSmall, in: chat, context)
        case .ended(let session, let text, let people):
            let action = send(text, people, everyone: false, to: chat, context)
            ProgressMessage.remember(action, of: session, isProgress: false, context)
        case .snapshot, .picture, .recipes: break
        }
    }

    private static func sendSlow(_ notice: Notice, _ kitchen: Kitchen, _ context: BotContext) async throws {
        let chat = ChatID(rawValue: notice.chat)
        switch notice.content {
        case .snapshot(let appliance, let file):
            guard let picture = await kitchen.snapshot(of: appliance) else {
                // The picture of a step is an extra; only one that was asked for is missed.
                if file == "camera.jpg" { context.send(await kitchen.text(.cameraNone, for: chat), to: chat) }
                return
            }
            context.send(media: [OutgoingFile(bytes: picture, filename: file, mediaType: "image/jpeg")], to: chat)
        case .picture(let recipe):
            guard let picture = try await kitchen.picture(of: recipe) else { return }
            context.send(
                media: [OutgoingFile(bytes: picture.bytes, filename: picture.file, mediaType: "image/jpeg")], to: chat)
        case .recipes(let query):
            let text = try await kitchen.listRecipes(query, for: chat, waits: false)
            if let text { context.send(text, to: chat) }
        case .text, .progress, .ended: break
        }
    }

    @discardableResult
    private static func send(
        _ text: String, _ people: [String], everyone: Bool, to chat: ChatID, _ context: BotContext
    ) -> ActionID {
        let members = context.snapshot.chatList.first { $0.chatID == chat }?.members.map { $0.publicKey } ?? []
        let named = everyone ? members : members.filter { people.contains($0.hex) }
        guard !named.isEmpty else { return context.send(text, to: chat) }
        let names = named.map { "nostr:\($0.npub)" }.joined(separator: " ")
        return context.send("\(text)\n\(names)", tags: named.map { Tag.user($0) }, to: chat)
    }
}
