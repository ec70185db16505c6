package import Nostr
package import PikaCore

/// The marker that tells other bots that a message was not written by a person: a tag `["pikabot-automated", DEPTH]` on
/// every inner event that a bot sends. Relays never see it, and clients that do not know it display the message as any
/// other.
///
/// The depth is 1 for a reply to a person or an unprompted message, otherwise the depth of the message replied to plus
/// 1.
package enum AutomationMarker {
    package static let tagName = "pikabot-automated"

    /// Returns the depth in a message's tags; nil without the tag, 1 if its value is not a number.
    package static func depth(of tags: [Tag]) -> Int? {
        guard let tag = tags.first(named: tagName) else { return nil }
        return max(1, tag.value.flatMap(Int.init) ?? 1)
    }

    package static func depth(of event: CoreEvent) -> Int? {
        guard case .message(let message) = event.content else { return nil }
        return depth(of: message.tags)
    }

    /// Returns a bot's effects with the tag on every message.
    ///
    /// - Parameter depth: the depth of the message replied to; 0 for a person's message and for unprompted messages.
    package static func mark(_ effects: [HandlerEffect], depth: Int) -> [HandlerEffect] {
        let (next, overflow) = depth.addingReportingOverflow(1)
        let tag = Tag(tagName, String(overflow ? .max : next))
        return effects.map { effect in
            var marked = HandlerEffect(id: effect.id, operation: mark(effect.operation, tag))
            marked.tracking = effect.tracking
            return marked
        }
    }

    private static func mark(_ operation: HandlerEffect.Operation, _ tag: Tag) -> HandlerEffect.Operation {
        switch operation {
        case .send(let chatID, let message): .send(chatID: chatID, marked(message, tag))
        case .dispatch(let action): .dispatch(mark(action, tag))
        case .putValue: operation
        }
    }

    private static func mark(_ action: AppAction, _ tag: Tag) -> AppAction {
        switch action {
        case .sendMessage(let chatID, let message): return .sendMessage(chatID: chatID, marked(message, tag))
        case .reactToMessage(let chatID, let id, let emoji):
            return .sendMessage(chatID: chatID, marked(.reaction(emoji, to: id), tag))
        case .sendHypernote(let chatID, let hypernote):
            return .sendMessage(chatID: chatID, marked(hypernote.message, tag))
        case .hypernoteAction(let chatID, let id, let name, let form):
            // An invalid action is passed on unchanged: the core reports the error.
            guard let answer = try? HypernoteAction(toSend: name, form: form) else { return action }
            return .sendMessage(chatID: chatID, marked(answer.message(to: id), tag))
        case .sendMedia(let chatID, var media):
            media.tags = replacing(media.tags, tag)
            return .sendMedia(chatID: chatID, media)
        default: return action
        }
    }

    private static func marked(_ message: OutgoingMessage, _ tag: Tag) -> OutgoingMessage {
        var message = message
        message.tags = replacing(message.tags, tag)
        return message
    }

    /// Replaces the tag, so that a bot that writes it cannot choose the depth.
    private static func replacing(_ tags: [Tag], _ tag: Tag) -> [Tag] { tags.filter { $0.name != tagName } + [tag] }
}

extension HandlerEffect.Operation {
    /// The chat that a message is sent to; nil for all other operations.
    package var messageChat: ChatID? {
        switch self {
        case .send(let chatID, _): chatID
        case .dispatch(.sendMessage(let chatID, _)), .dispatch(.reactToMessage(let chatID, _, _)),
            .dispatch(.sendMedia(let chatID, _)), .dispatch(.sendHypernote(let chatID, _)),
            .dispatch(.hypernoteAction(let chatID, _, _, _)):
            chatID
        case .dispatch, .putValue: nil
        }
    }
}
