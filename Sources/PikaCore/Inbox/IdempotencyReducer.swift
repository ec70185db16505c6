import MLS
import Marmot
import Nostr

/// Idempotent actions, which are performed once however often they are requested (``RequestID/once(_:)``).
extension CoreModel {
    /// Whether an action, or a handler's effects (nil), can be skipped: it is done, and its outcome is reported again,
    /// or it is in progress.
    mutating func isDuplicate(_ action: AppAction?, _ request: RequestID?, _ step: inout CoreStep) -> Bool {
        switch self.inbox.begin(request) {
        case .new: return false
        case .inProgress: return true
        case .done(let outcome):
            if let request { step.effects.append(.finish(request, outcome)) }
            guard case .queued(let messageID, _) = outcome, let chatID = action?.messageChat,
                !self.delivery.queue.contains(where: { $0.messageID == messageID && $0.leftover == nil })
            else { return true }
            // A message that is no longer in the outbox, and whose outcome was not removed, is on a relay.
            step.effects.append(.report(chatID: self.groups.routes.chatID(stored: chatID), messageID: messageID, .sent))
            return true
        }
    }
}

extension AppAction {
    /// The chat of an action that sends a message; nil for other actions.
    fileprivate var messageChat: ChatID? {
        switch self {
        case .sendMessage(let chatID, _), .reactToMessage(let chatID, _, _), .sendMedia(let chatID, _),
            .sendHypernote(let chatID, _), .hypernoteAction(let chatID, _, _, _), .saveGroupProfile(let chatID, _):
            chatID
        default: nil
        }
    }
}
