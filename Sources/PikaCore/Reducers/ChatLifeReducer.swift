import Nostr

/// What livens a chat up: typing, hypernotes.
extension CoreModel {
    mutating func actInChat(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        switch action {
        case .typingStarted(let chatID): return try self.startTyping(inChat: chatID, &step)
        case .sendHypernote(let chatID, let hypernote):
            return try self.send(hypernote.message, toChat: chatID, &step)
        case .hypernoteAction(let chatID, let hypernote, let name, let form):
            guard !name.trimmingBlanks.isEmpty else {
                throw AppCoreError(.notAllowed, "an answer to a hypernote needs the name of an action")
            }
            guard form.count <= HypernoteAction.maximumFields else {
                throw AppCoreError(.notAllowed, "a form has at most \(HypernoteAction.maximumFields) fields")
            }
            let answer = HypernoteAction(action: String(name.trimmingBlanks), form: form)
            return try self.send(answer.message(to: hypernote), toChat: chatID, &step)
        default: return nil
        }
    }
}
