import PikaCore
import Synchronization

/// The latest message in each chat of a program, and whether the program has replied. Its memory is bounded.
final class AnswerTracker: Sendable {
    private static let capacity = 1_024

    private struct Message {
        var event: CoreEvent
        var isAnswered = false
    }

    private struct State {
        var messages: [ChatID: Message] = [:]
        var order: [ChatID] = []
    }

    private let state = Mutex(State())

    /// Records a message that the program receives.
    func received(_ event: CoreEvent) {
        guard case .message = event.content else { return }
        state.withLock { state in
            if state.messages.updateValue(Message(event: event), forKey: event.chatID) == nil {
                state.order.append(event.chatID)
                if state.order.count > Self.capacity { state.messages[state.order.removeFirst()] = nil }
            }
        }
    }

    /// Records that the program writes in a chat. Returns the message that it replies to, and whether this is its first
    /// reply; nil if it writes unprompted.
    func answered(in chatID: ChatID) -> (event: CoreEvent, isFirst: Bool)? {
        state.withLock { state in
            guard let message = state.messages[chatID] else { return nil }
            state.messages[chatID]?.isAnswered = true
            return (message.event, !message.isAnswered)
        }
    }
}
