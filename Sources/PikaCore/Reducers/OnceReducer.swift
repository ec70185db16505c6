import MLS
import Marmot
import Nostr

/// Actions that are to be done once, whoever asks for them again (``RequestID/once(_:)``).
extension CoreModel {
    /// Whether an action, or what handlers want (nil), need not be done: it was, which is said again, or it is under way.
    mutating func isAnswered(_ action: AppAction?, _ request: RequestID?, _ step: inout CoreStep) -> Bool {
        guard let request, let key = request.onceKey else { return false }
        if self.answers.underWay.contains(key) { return true }
        guard let answer = self.answers[Self.answerName(key)] else {
            self.answers.underWay.insert(key)
            return false
        }
        step.effects.append(.finish(request, answer.outcome))
        guard case .queued(let messageID, _) = answer.outcome, let chatID = action?.messageChat,
            !self.queue.contains(where: { $0.messageID == messageID && $0.leftover == nil })
        else { return true }
        // What is in the outbox no more without being forgotten, a relay has.
        step.effects.append(.report(chatID: self.routes.chatID(stored: chatID), messageID: messageID, .sent))
        return true
    }

    /// Notes how an action ended, in the transaction that holds what it did.
    mutating func noteAnswer(to request: RequestID, _ outcome: ActionOutcome, _ step: inout CoreStep) {
        guard let key = request.onceKey else { return }
        self.answers.underWay.remove(key)
        if case .failed = outcome { return }
        let name = Self.answerName(key)
        let (answer, forgotten) = self.answers.put(outcome, name)
        step.changes.append(.putMemo(MemoName(.answer, name), answer.memo))
        if let forgotten { step.changes.append(.putMemo(MemoName(.answer, forgotten), nil)) }
    }

    /// No relay took a message: asked for again, it is sent anew.
    mutating func forgetAnswer(aboutMessage messageID: EventID?, _ step: inout CoreStep) {
        guard let messageID, let name = self.answers.forget(messageID: messageID) else { return }
        step.changes.append(.putMemo(MemoName(.answer, name), nil))
    }

    private static func answerName(_ key: String) -> [UInt8] { SHA256Derivation.digest(Array(key.utf8)) }
}

extension AppAction {
    /// The chat of an action that sends a message; nil for others.
    fileprivate var messageChat: String? {
        switch self {
        case .sendMessage(let chatID, _), .reactToMessage(let chatID, _, _), .sendMedia(let chatID, _),
            .sendHypernote(let chatID, _), .hypernoteAction(let chatID, _, _, _), .saveGroupProfile(let chatID, _):
            chatID
        default: nil
        }
    }
}
