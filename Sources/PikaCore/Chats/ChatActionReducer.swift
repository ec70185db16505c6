import MLS
import Nostr

/// User actions on chats and their messages, except sending.
extension CoreModel {
    /// Performs one of these actions; nil if its outcome comes in a later turn, or the action is another one.
    mutating func actOnChats(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        switch action {
        case .setScreens(let screens):
            self.state.router.stack = screens.map(self.resolved)
            self.fillCurrentChat(&step)
            return .done(chatID: nil)
        case .loadOlderMessages(let chatID, let limit): return try self.loadOlder(chatID, limit: limit, request, &step)
        case .archiveChat(let chatID, let isArchived):
            let groupID = try self.groupID(ofChat: chatID)
            self.changeChat(groupID) { $0.isArchived = isArchived }
            return .done(chatID: ChatID(groupID))
        case .retryMessage(let chatID, let messageID):
            try self.retry(messageID, inChat: chatID, request, &step)
            return nil
        case .downloadChatMedia(let chatID, let messageID, let index):
            try self.download(index, of: messageID, inChat: chatID, request, &step)
            return nil
        default: return nil
        }
    }
}
