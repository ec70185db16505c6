import Nostr

/// Typing notices and hypernotes of a chat.
extension CoreModel {
    mutating func actInChat(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        switch action {
        case .typingStarted(let chatID): return try self.startTyping(inChat: chatID, &step)
        case .sendHypernote(let chatID, let hypernote):
            return try self.send(hypernote.message, toChat: chatID, request: request, &step)
        case .hypernoteAction(let chatID, let hypernote, let name, let form):
            let answer = try HypernoteAction(toSend: name, form: form)
            return try self.send(answer.message(to: hypernote), toChat: chatID, request: request, &step)
        default: return nil
        }
    }
}
