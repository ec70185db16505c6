import MLS
import Marmot
import Nostr

/// Idempotent actions, which are performed once however often they are requested (``RequestID/once(_:)``).
extension CoreModel {
    /// Whether an action, or a handler's effects (nil), can be skipped: it is done, and its outcome is reported again,
    /// or it is in progress.
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
        // A message that is no longer in the outbox, and whose answer was not dropped, is on a relay.
        step.effects.append(.report(chatID: self.routes.chatID(stored: chatID), messageID: messageID, .sent))
        return true
    }

    /// Stores the outcome of an action, in the transaction with its changes.
    mutating func noteAnswer(to request: RequestID, _ outcome: ActionOutcome, _ step: inout CoreStep) {
        guard let key = request.onceKey else { return }
        self.answers.underWay.remove(key)
        if case .failed = outcome { return }
        let name = Self.answerName(key)
        let (answer, forgotten) = self.answers.put(outcome, name)
        step.changes.append(.putMemo(MemoName(.answer, name), answer.memo))
        if let forgotten { step.changes.append(.putMemo(MemoName(.answer, forgotten), nil)) }
    }

    /// Drops the answer about a message that no relay accepted: when requested again, it is sent anew.
    mutating func forgetAnswer(aboutMessage messageID: EventID?, _ step: inout CoreStep) {
        guard let messageID, let name = self.answers.forget(messageID: messageID) else { return }
        step.changes.append(.putMemo(MemoName(.answer, name), nil))
    }

    private static func answerName(_ key: String) -> [UInt8] { SHA256Derivation.digest(Array(key.utf8)) }
}

extension AppAction {
    /// The chat of an action that sends a message; nil for other actions.
    fileprivate var messageChat: String? {
        switch self {
        case .sendMessage(let chatID, _), .reactToMessage(let chatID, _, _), .sendMedia(let chatID, _),
            .sendHypernote(let chatID, _), .hypernoteAction(let chatID, _, _, _), .saveGroupProfile(let chatID, _):
            chatID
        default: nil
        }
    }
}
